"""What the oracle does with a GPU: arenas that cross by IPC, and the timing loop."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import socket
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from kbx import clock, cores, graphs, results
from kbx.executor.channel import Channel
from kbx.messages import ArenaDescription, Device
from kbx.messages.oracle import DeviceState, Rates
from kbx.oracle import footprint, nvml, peaks, replayer, starting
from kbx.oracle.arenas import DataSocket, SharedArena
from kbx.oracle.baselines import CompiledReference
from kbx.oracle.bench import Bench
from kbx.oracle.task import Unsupported
from kbx.tensors import PAGE, Arena

if TYPE_CHECKING:
    from kbx.oracle.session import Session
    from kbx.oracle.task import Task

CAPACITY = 12 << 30
"""Bytes of an arena on a device with room: every set of a benchmark size needs its own."""
UNTIMED_CAPACITY = footprint.LEAST_ARENA
"""Bytes of an arena for correctness alone: several candidates may share the device."""
MOST_COPIED = 256 << 20
"""Bytes of results that are copied beside timed calls of the reference: what the host does matters where calls are short."""
SHARE = 0.2
"""Part of the free memory that one arena takes at most, unless a single set needs more: the oracle needs the rest for truth in
float64."""
_NO_MEMORY = 2
"""cudaErrorMemoryAllocation."""


class Runtime:
    """The CUDA runtime that torch loaded, by ctypes: torch has no public way to a plain, whole IPC allocation."""

    def __init__(self) -> None:
        torch.cuda.init()
        self.library = ctypes.CDLL(_loaded("libcudart"))
        self.library.cudaGetErrorString.restype = ctypes.c_char_p

    def call(self, name: str, *args: Any) -> None:
        """Calls a runtime function; raises OutOfMemoryError, or RuntimeError, with CUDA's own text."""
        code = getattr(self.library, name)(*args)
        if code:
            self.library.cudaGetLastError()  # else torch would find it after its next launch
            kind = torch.OutOfMemoryError if code == _NO_MEMORY else RuntimeError
            raise kind(f"{name}: {self.library.cudaGetErrorString(code).decode()}")


class IpcHandle(ctypes.Structure):
    """cudaIpcMemHandle_t, which goes to the runner as its 64 bytes in hexadecimal."""

    _fields_ = [("reserved", ctypes.c_char * 64)]


class _TensorArena(Arena):
    """The bytes of ``content``, a flat tensor on the device."""

    content: torch.Tensor

    def typed(self, offset: int, count: int, dtype: torch.dtype) -> torch.Tensor:
        return self.content[offset : offset + count * dtype.itemsize].view(dtype)


class CudaArena(_TensorArena, SharedArena):
    """A ``cudaMalloc`` of its own, since an IPC handle opens the whole allocation that an address lies in."""

    def __init__(self, name: str, capacity: int, runtime: Runtime, device: torch.device) -> None:
        super().__init__(name, capacity)
        self.runtime, self.device = runtime, device
        self.address = ctypes.c_void_p()
        runtime.call("cudaMalloc", ctypes.byref(self.address), ctypes.c_size_t(capacity))
        # What another process left in this memory is nobody's business.
        runtime.call("cudaMemset", self.address, 0, ctypes.c_size_t(capacity))
        self.content = torch.as_tensor(_Span(self.address.value, capacity), device=device)

    def describe(self) -> ArenaDescription:
        """As in ``messages.runner.Attach``."""
        handle = IpcHandle()
        self.runtime.call("cudaIpcGetMemHandle", ctypes.byref(handle), self.address)
        return {"name": self.name, "bytes": self.capacity, "handle": bytes(handle).hex()}

    def close(self) -> None:
        """Frees the memory; no tensor that points into it may be used any more."""
        torch.cuda.synchronize(self.device)
        del self.content
        self.runtime.call("cudaFree", self.address)


class Scratch(_TensorArena):
    """Where results of the reference go, as the candidate's go to arena ``out``, so that the host has done the same before
    each call; nobody reads them."""

    def __init__(self, capacity: int, device: torch.device) -> None:
        super().__init__("scratch", capacity)
        self.content = torch.empty(capacity, dtype=torch.uint8, device=device)

    def take(self, call: clock.Call, result: object) -> None:
        """Copies the result of a ``clock.Call`` over the one before, if there is room."""
        self.reset()
        with contextlib.suppress(MemoryError):
            results.put(result, self, call.inputs)


class _Span:
    """Raw device memory in the form that torch adopts without copying."""

    def __init__(self, address: int | None, nbytes: int) -> None:
        self.__cuda_array_interface__ = {
            "data": (address, False), "shape": (nbytes,), "typestr": "|u1", "strides": None, "version": 3,
        }  # fmt: skip


class CudaDevice:
    """One GPU. The methods are those of ``devices.CpuDevice``."""

    def __init__(
        self, index: int, listener: socket.socket | None = None, starter: starting.Starter | None = None
    ) -> None:
        """``starter``: of what makes calls of candidates again; without one nothing is known of them but what they did in the end."""
        self._socket = DataSocket(listener, hands_over=True) if starter is not None else None
        self.data_address = None if self._socket is None else self._socket.address
        self.replayer = None if starter is None else replayer.Replayer(starter)
        self.torch_device = torch.device("cuda", index)
        torch.cuda.set_device(self.torch_device)
        self.runtime = Runtime()
        self.properties = torch.cuda.get_device_properties(self.torch_device)

    def describe(self) -> Device:
        p = self.properties
        return {"kind": "cuda", "name": p.name, "arch": f"sm_{p.major}{p.minor}", "uuid": self._uuid(),
                "driver": _driver(), "memory_bytes": p.total_memory, "host_bytes": _host_bytes()}  # fmt: skip

    def _uuid(self) -> str:
        return f"GPU-{self.properties.uuid}"

    def arenas(self, timed: bool, least: Sequence[int] = (0, 0)) -> tuple[CudaArena, CudaArena]:
        """Raises OutOfMemoryError where ``least`` does not fit."""
        torch.cuda.empty_cache()
        free, _ = torch.cuda.mem_get_info(self.torch_device)
        sizes = capacities(free, timed, least)
        lent = CudaArena("in", sizes[0], self.runtime, self.torch_device)
        try:
            return lent, CudaArena("out", sizes[1], self.runtime, self.torch_device)
        except RuntimeError:
            lent.close()
            raise

    def offer(self, runner: int | None, arenas: Sequence[SharedArena], timed: bool) -> None:
        """Lets what keeps a runner's records introduce itself, unless its calls are ``timed``; handles of arenas travel in ``attach``."""
        if not timed and runner is not None and self._socket is not None and self.replayer is not None:
            self._socket.offer(runner, ())
            self.replayer.open(arenas)

    def withdraw(self, runner: int | None) -> None:
        """Undoes ``offer``."""
        if runner is not None and self._socket is not None and self.replayer is not None:
            self._socket.withdraw(runner)
            self.replayer.close()

    def executor(self, runner: int | None) -> Channel | None:
        """What keeps the records of an attached runner."""
        return None if runner is None or self._socket is None else self._socket.executor(runner)

    def synchronize(self) -> None:
        torch.cuda.synchronize(self.torch_device)

    def trim(self) -> None:
        """Gives memory back that torch keeps for later: other oracles and candidates are on this device."""
        torch.cuda.empty_cache()

    def bench(self, session: Session, size: int, sets: int, round_: str) -> Bench:
        return Bench(session, size, sets, round_, self)

    def compiled(self, task: Task, size: int, kind: str, seed: str) -> CompiledReference:
        return CompiledReference(task, size, kind, seed, self)

    def room(self) -> int:
        """Bytes that one set of buffers may take now."""
        return int(torch.cuda.mem_get_info(self.torch_device)[0] * SHARE)

    @property
    def flush_bytes(self) -> int:
        """Enough to evict everything from L2."""
        return 2 * self.properties.L2_cache_size

    def time(self, calls: Sequence[clock.Call], lead: int, warm: bool = False, returned: int = 0) -> list[clock.Timed]:
        """A ``clock.Timed`` of each ``clock.Call``, as the runner times the candidate; ``lead`` and ``warm`` as in
        ``messages.runner.Measure``. Results, which take ``returned`` bytes, are copied as there if ``copies(returned)``."""
        scratch = Scratch(returned if self.copies(returned) else 0, self.torch_device)
        return self._clock.time(calls, clock.Before(self.flush_bytes, lead, warm), scratch.take)

    @staticmethod
    def copies(returned: int) -> bool:
        """Whether results of so many bytes are copied after a timed call of the reference, too."""
        return returned <= MOST_COPIED

    def recorded(self, functions: Sequence[Callable[[], Any]]) -> list[graphs.Recorded]:
        """CUDA graphs of the functions, to be timed instead of them; raises RuntimeError, see ``graphs.Recorder``."""
        return [self._recorder.record(function) for function in functions]

    @functools.cached_property
    def _clock(self) -> clock.Clock:
        _ = self._recorder  # Runners have made its stream as well, and with it torch's whole pool.
        made = clock.Clock(self.torch_device)
        if made.lacks:
            raise Unsupported(made.lacks)
        return made

    @functools.cached_property
    def _recorder(self) -> graphs.Recorder:
        return graphs.Recorder(self.torch_device)

    def peaks(self, glance: bool) -> Rates:
        return peaks.glance(self) if glance else peaks.measure(self)

    def state(self) -> DeviceState:
        return self._card.sample()

    @functools.cached_property
    def core(self) -> int | None:
        """The processor from which is launched what is timed; None for any."""
        return cores.of_gpu(self._uuid())

    @functools.cached_property
    def _card(self) -> nvml.Card:
        return nvml.Card(self._uuid())


def capacities(free: int, timed: bool, least: Sequence[int]) -> list[int]:
    """Bytes of both arenas where so many are ``free``, whole pages; raises OutOfMemoryError where there is no room for ``least``."""
    usual = min(CAPACITY if timed else UNTIMED_CAPACITY, int(free * SHARE))
    sizes = [-(-max(usual, n) // PAGE) * PAGE for n in least]
    if sum(sizes) > free:
        raise torch.OutOfMemoryError(f"two arenas take {sum(sizes) >> 20} MiB, {free >> 20} MiB are free")
    return sizes


def _host_bytes() -> int:
    """Memory of this machine, or what its container may have of it."""
    sizes = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    with contextlib.suppress(OSError, ValueError), open("/sys/fs/cgroup/memory.max", encoding="utf-8") as file:
        sizes.append(int(file.read()))
    return min(sizes)


def _loaded(name: str) -> str:
    """Path of a shared library that this process has mapped."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            path = line.split(maxsplit=5)[-1].strip()
            if os.path.basename(path).startswith(name):
                return path
    raise Unsupported(f"torch did not load {name}")


def _driver() -> str:
    """The driver's version, as its kernel module states it."""
    with open("/proc/driver/nvidia/version", encoding="utf-8") as file:
        words = file.readline().split()
    return next((w for w in words if w.replace(".", "").isdigit() and "." in w), "unknown")
