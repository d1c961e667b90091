"""What both clients send and when they send it again, without any input or output.

An operation is a generator. It yields ``Request`` and is sent the ``Reply`` or ``Lost``, yields ``Pause`` to
let time pass, and ``Found`` to hand over a judgement on the way; it returns its result. ``Client`` and
``AsyncClient`` only carry out these steps.
"""

from __future__ import annotations

import email.utils
import json
import logging
import random
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, TypeVar

from kbx.errors import KbxError, ProtocolError, ServerFault, Unavailable, refused
from kbx.models import Judgement

T = TypeVar("T")

_BUSY = frozenset({429, 502, 503, 504})
_FIRST_PAUSE = 0.25
_LONGEST_PAUSE = 30.0
_NEVER_MET = 10.0
"""Seconds of patience with a server that has never answered."""
_ANSWERED: set[str] = set()
"""Addresses of servers that have answered; clients come and go, as for each step of a training."""
_LOG = logging.getLogger("kbx")


@dataclass(frozen=True)
class Request:
    """``wait``: seconds that the server may hold the answer back."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    wait: float = 0.0

    @property
    def parameters(self) -> dict[str, str]:
        return {**self.query, "wait": f"{self.wait:g}"} if self.wait else dict(self.query)


@dataclass(frozen=True)
class Reply:
    """``headers`` has lower-case names."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Lost:
    """No answer came: refused, reset, timed out. Whether the request arrived is unknown."""

    reason: str


@dataclass(frozen=True)
class Pause:
    seconds: float


@dataclass(frozen=True)
class Found:
    """The judgement of the candidate at that index has ended."""

    index: int
    judgement: Judgement


Outcome = Reply | Lost
Step = Request | Pause | Found
Operation = Generator[Step, "Outcome | None", T]


@dataclass(frozen=True)
class Retries:
    """When a request is sent again: on 429, 502, 503, 504 and lost connections, until ``patience`` seconds passed; for 10 seconds where
    the server at ``url`` has not answered this process once, since then nobody may be there.

    The pause is what ``Retry-After`` asks for, else it doubles from 0.25 s to 30 s, less a random part.
    """

    url: str
    patience: float = 300.0

    def met(self) -> None:
        """The server has answered."""
        _ANSWERED.add(self.url)

    def give_up_at(self) -> float:
        return monotonic() + self.patience

    def next_pause(self, request: Request, outcome: Outcome, attempt: int, gives_up: float) -> float:
        """Seconds until the request is sent again. Raises if that is hopeless, or later than ``gives_up``. The first loss of several is
        logged."""
        if isinstance(outcome, Reply):
            self.met()
            if outcome.status not in _BUSY:
                raise failure(outcome)
        if self.url not in _ANSWERED:
            gives_up += min(_NEVER_MET, self.patience) - self.patience
        pause = self._pause(attempt, outcome)
        why = _why(outcome)
        if isinstance(outcome, Lost):
            why = f"{self.url}: {why}: start it with 'kbx serve', or name another one by url or KBX_URL"
        if monotonic() + pause > gives_up:
            raise Unavailable(f"{request.method} {request.path}: {why}; gave up after {attempt + 1} tries")
        if isinstance(outcome, Lost) and not attempt:
            _LOG.warning("%s; trying again for %.0f s", why, gives_up - monotonic())
        return pause

    def _pause(self, attempt: int, outcome: Outcome) -> float:
        asked = _retry_after(outcome.headers.get("retry-after")) if isinstance(outcome, Reply) else None
        if asked is not None:
            return asked
        return min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** min(attempt, 10)) * (0.5 + 0.5 * random.random())


def exchange(request: Request, retries: Retries) -> Operation[Any]:
    """Sends a request until it is answered, and returns the JSON of the answer."""
    gives_up = retries.give_up_at()
    attempt = 0
    while True:
        outcome = yield request
        if outcome is None:
            raise AssertionError("a request ends in a reply or a loss")
        if isinstance(outcome, Reply) and outcome.status < 400:
            retries.met()
            return content(outcome, request)
        yield Pause(retries.next_pause(request, outcome, attempt, gives_up))
        attempt += 1


def content(reply: Reply, request: Request) -> Any:
    """The JSON of an answer of a status below 400."""
    if not 200 <= reply.status < 300:
        raise ProtocolError(f"{request.method} {request.path}: unexpected status {reply.status}")
    if not reply.body:
        return None
    try:
        return json.loads(reply.body)
    except ValueError as error:
        raise ProtocolError(f"{request.method} {request.path}: the answer is not JSON ({error})") from error


def failure(reply: Reply) -> KbxError:
    """The error that an answer of status 400 or above stands for."""
    detail, pointer = _problem(reply.body)
    if reply.status >= 500:
        return ServerFault(f"the server failed with {reply.status}: {detail}")
    return refused(reply.status, detail, pointer)


def _problem(body: bytes) -> tuple[str, str | None]:
    """Detail and pointer of a ``problem+json``; the start of any other text."""
    try:
        problem = json.loads(body)
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        return body.decode(errors="replace").strip()[:200] or "no reason given", None
    detail = problem.get("detail") or problem.get("title") or "no reason given"
    pointer = problem.get("pointer")
    return str(detail), pointer if isinstance(pointer, str) else None


def _why(outcome: Outcome) -> str:
    if isinstance(outcome, Lost):
        return outcome.reason
    return f"busy ({outcome.status}): {_problem(outcome.body)[0]}"


def _retry_after(value: str | None) -> float | None:
    """Seconds of a Retry-After header, which may also be a date; None if it is neither."""
    if value is None:
        return None
    if value.strip().isdigit():
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError):
        return None
