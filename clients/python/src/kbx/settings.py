"""Where the server is and how to speak to it; the same for both clients."""

from __future__ import annotations

import functools
import os
import ssl
from dataclasses import dataclass

import httpx

from kbx.exchanges import Lost, Outcome, Reply, Request, Retries

DEFAULT_URL = "http://127.0.0.1:8470"
_CONNECT_SECONDS = 10.0


@dataclass(frozen=True)
class Settings:
    """``timeout``: seconds without a byte of an answer, beyond what the server was asked to wait."""

    url: str
    token: str | None
    timeout: float
    retries: Retries

    @staticmethod
    def of(url: str | None, token: str | None, timeout: float, patience: float) -> Settings:
        """Url and token default to ``KBX_URL`` and ``KBX_TOKEN``."""
        address = (url or os.environ.get("KBX_URL") or DEFAULT_URL).rstrip("/")
        if httpx.URL(address).scheme not in ("http", "https"):
            raise ValueError(f"url: must begin with http:// or https://, is {address!r}")
        retries = Retries(address, patience)
        return Settings(address, token or os.environ.get("KBX_TOKEN") or None, timeout, retries)

    def headers(self) -> dict[str, str]:
        headers = {"accept": "application/json"}
        if self.token:
            headers["authorization"] = f"Bearer {self.token}"
        return headers

    def trust(self) -> ssl.SSLContext | bool:
        return trust(self.url)

    def limits(self, request: Request) -> httpx.Timeout:
        return httpx.Timeout(self.timeout + request.wait, connect=_CONNECT_SECONDS)


def trust(url: str) -> ssl.SSLContext | bool:
    """What ``httpx`` verifies certificates by: loaded once a process, as that takes 80 ms; nothing without TLS."""
    return _certificates() if url.startswith("https:") else False


@functools.cache
def _certificates() -> ssl.SSLContext:
    return httpx.create_ssl_context()


def reply(response: httpx.Response) -> Outcome:
    return Reply(
        response.status_code, {name.lower(): value for name, value in response.headers.items()}, response.content
    )


def lost(error: httpx.HTTPError) -> Outcome:
    return Lost(f"connection lost ({type(error).__name__}{f': {error}' if str(error) else ''})")
