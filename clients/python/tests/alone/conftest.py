from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from fault_server import FaultServer
from hypothesis import settings

import kbx

# The same examples in every run, and none too slow; many others where there is time.
settings.register_profile("verify", deadline=None, derandomize=True, database=None)
settings.register_profile("soak", deadline=None, max_examples=500, database=None)
settings.load_profile("soak" if os.environ.get("KBX_SOAK") else "verify")


@pytest.fixture
def server() -> Iterator[FaultServer]:
    server = FaultServer()
    yield server
    server.close()


@pytest.fixture
def client(server: FaultServer) -> Iterator[kbx.Client]:
    with kbx.Client(server.url, patience=60) as client:
        yield client


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses asked for, none of them taken: the clock of retries moves instead."""
    taken: list[float] = []

    def sleep(seconds: float) -> None:
        taken.append(seconds)

    async def sleep_async(seconds: float) -> None:
        taken.append(seconds)

    monkeypatch.setattr("kbx.client.sleep", sleep)
    monkeypatch.setattr("kbx.aio.sleep", sleep_async)
    monkeypatch.setattr("kbx.exchanges.monotonic", lambda: sum(taken))
    return taken
