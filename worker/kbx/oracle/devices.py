"""What the server needs of a device; ``cuda.CudaDevice`` has the same methods."""

from __future__ import annotations

import platform
import socket
from collections.abc import Sequence
from typing import NoReturn, cast

import torch

from kbx.executor.channel import Channel
from kbx.messages import Device
from kbx.messages.oracle import DeviceState
from kbx.oracle.arenas import DataSocket, MemoryArena, SharedArena
from kbx.oracle.task import Unsupported


class CpuDevice:
    """Arenas in shared memory, no benchmarks: without a GPU nothing is timed."""

    torch_device = torch.device("cpu")
    core = None
    replayer = None

    def __init__(self, listener: socket.socket | None = None) -> None:
        self._socket = DataSocket(listener)
        self.data_address = self._socket.address

    def describe(self) -> Device:
        """As in ``messages.Hello``."""
        return {"kind": "cpu", "name": _processor(), "arch": platform.machine()}

    def arenas(self, timed: bool, least: Sequence[int] = (0, 0)) -> tuple[MemoryArena, MemoryArena]:
        """A fresh pair of arenas for one candidate, of ``least`` bytes at least."""
        return MemoryArena("in", least[0]), MemoryArena("out", least[1])

    def offer(self, runner: int | None, arenas: Sequence[SharedArena], timed: bool) -> None:
        """Lets a runner have its arenas."""
        if runner is not None:
            self._socket.offer(runner, cast("Sequence[MemoryArena]", arenas))  # those made above

    def withdraw(self, runner: int | None) -> None:
        """Undoes ``offer``."""
        if runner is not None:
            self._socket.withdraw(runner)

    def executor(self, runner: int | None) -> Channel | None:
        """What executes the launches of an attached runner."""
        return None if runner is None else self._socket.executor(runner)

    def synchronize(self) -> None:
        """Nothing is asynchronous here."""

    def trim(self) -> None:
        """Gives memory back that nobody uses."""

    def bench(self, session: object, size: int, sets: int, round_: str) -> NoReturn:
        raise Unsupported("benchmarks need a GPU")

    def compiled(self, task: object, size: int, kind: str, seed: str) -> NoReturn:
        raise Unsupported("baselines need a GPU")

    def peaks(self, glance: bool) -> NoReturn:
        raise Unsupported("peaks are measured on a GPU")

    def state(self) -> DeviceState:
        """Clocks and temperature, as in ``messages.oracle.BaselineMeasured``."""
        return {}


def _processor() -> str:
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        names = [line.split(":", 1)[1].strip() for line in info if line.startswith("model name")]
    return names[0] if names else platform.machine()
