from __future__ import annotations

from collections.abc import Iterator

import pytest
from fault_server import FaultServer

import kbx


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
