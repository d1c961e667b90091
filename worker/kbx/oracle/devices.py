"""What the server needs of a device; ``cuda.CudaDevice`` has the same methods."""

import platform

import torch

from kbx.oracle.arenas import DataSocket, MemoryArena
from kbx.oracle.task import Unsupported


class CpuDevice:
    """Arenas in shared memory, no benchmarks: without a GPU nothing is timed."""

    torch_device = torch.device("cpu")
    core = None

    def __init__(self, listener=None):
        self._socket = DataSocket(listener)
        self.data_address = self._socket.address

    def describe(self):
        """As in ``messages.Hello``."""
        return {"kind": "cpu", "name": _processor(), "arch": platform.machine()}

    def arenas(self, timed, least=(0, 0)):
        """A fresh pair of arenas for one candidate, of ``least`` bytes at least."""
        return MemoryArena("in", least[0]), MemoryArena("out", least[1])

    def offer(self, runner, arenas):
        """Lets a runner have its arenas."""
        if runner is not None:
            self._socket.offer(runner, arenas)

    def withdraw(self, runner):
        """Undoes ``offer``."""
        self._socket.withdraw(runner)

    def synchronize(self):
        """Nothing is asynchronous here."""

    def trim(self):
        """Gives memory back that nobody uses."""

    def bench(self, session, size, sets, round_):
        raise Unsupported("benchmarks need a GPU")

    def compiled(self, task, size, kind, seed):
        raise Unsupported("baselines need a GPU")

    def peaks(self, glance):
        raise Unsupported("peaks are measured on a GPU")

    def state(self):
        """Clocks and temperature, as in ``messages.oracle.BaselineMeasured``."""
        return {}


def _processor():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        names = [line.split(":", 1)[1].strip() for line in info if line.startswith("model name")]
    return names[0] if names else platform.machine()
