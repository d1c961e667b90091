"""The runner's side of the arenas: shared memory from the oracle, as tensors.

Each tensor gets its own storage of exactly its size, as if freshly allocated, so that code which inspects storages does not see the
arena.
"""

import array
import ctypes
import functools
import json
import mmap
import os
import re
import socket

import torch

from kbx.runner import native
from kbx.tensors import Arena

# Taken before any candidate is loaded.
_as_tensor, _view = torch.as_tensor, torch._C.TensorBase.view

_MESSAGE_BYTES = 4096


class CpuArena(Arena):
    """An arena in a memfd, mapped for good as the process's arena of this ``number``. Nothing keeps the descriptor."""

    def __init__(self, name, capacity, number, descriptor):
        super().__init__(name, capacity)
        self._memory = _map(number, descriptor, capacity) if capacity else b""
        self.address = ctypes.addressof(self._memory) if capacity else 0

    def typed(self, offset, count, dtype):
        return torch.frombuffer(self._memory, dtype=dtype, count=count, offset=offset)


def _map(number, descriptor, length):
    if native.guards():
        address = native.map(number, descriptor, length)
    else:
        # Python's own would keep the descriptor, through which the memory could be read.
        address = _libc.mmap(None, length, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, descriptor, 0)
        if address == ctypes.c_void_p(-1).value:
            raise OSError(ctypes.get_errno(), "cannot map an arena")
    return (ctypes.c_byte * length).from_address(address)


_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)


class CudaArena(Arena):
    """An arena in another process's ``cudaMalloc`` segment, opened by its IPC handle (64 bytes)."""

    def __init__(self, name, capacity, handle, device):
        super().__init__(name, capacity)
        self._device = device
        self.address = _open_ipc_handle(handle, device)

    def typed(self, offset, count, dtype):
        # The interface has no names for bf16 and fp8, so the bytes are taken and then viewed.
        return _view(device_bytes(self.address + offset, count * dtype.itemsize, self._device), dtype)

    def close(self):
        """Unmaps it; no tensor that points into it may be used any more."""
        cuda_runtime(self._device).cudaIpcCloseMemHandle(ctypes.c_void_p(self.address))


def device_bytes(address, nbytes, device):
    """Memory of a GPU as a tensor of bytes."""
    return _as_tensor(_Segment(address, nbytes), device=device)


class _Segment:
    def __init__(self, address, nbytes):
        self.__cuda_array_interface__ = {"shape": (nbytes,), "typestr": "|u1", "data": (address, False), "version": 3}


class _IpcHandle(ctypes.Structure):
    _fields_ = (("reserved", ctypes.c_byte * 64),)


_LAZY_PEER_ACCESS = 1


@functools.cache
def cuda_runtime(device):
    """The CUDA runtime that torch has loaded, as a ``ctypes`` library."""
    torch.zeros(1, device=device)  # the runtime needs its context first
    with open("/proc/self/maps") as maps:
        path = next(m[1] for m in (re.search(r"(/\S*libcudart\S*)$", line.rstrip()) for line in maps) if m)
    return ctypes.CDLL(path)


def _open_ipc_handle(handle, device):
    """Address of the segment in this process; raises RuntimeError with CUDA's error number."""
    runtime = cuda_runtime(device)
    runtime.cudaIpcOpenMemHandle.argtypes = (ctypes.POINTER(ctypes.c_void_p), _IpcHandle, ctypes.c_uint)
    address = ctypes.c_void_p()
    code = runtime.cudaIpcOpenMemHandle(ctypes.byref(address), _IpcHandle.from_buffer_copy(handle), _LAZY_PEER_ACCESS)
    if code:
        raise RuntimeError(f"cudaIpcOpenMemHandle: error {code}")
    return address.value


def receive(data_sock):
    """Takes the oracle's one message: memfds as SCM_RIGHTS beside ``[{"name", "bytes"}, …]``. Returns arenas by name."""
    size = array.array("i").itemsize
    body, ancillary, _, _ = data_sock.recvmsg(_MESSAGE_BYTES, socket.CMSG_SPACE(8 * size))
    descriptors = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(data[: len(data) - len(data) % size])
    arenas = {}
    for number, (described, descriptor) in enumerate(zip(json.loads(body), descriptors, strict=True), 1):
        arenas[described["name"]] = CpuArena(described["name"], described["bytes"], number, descriptor)
        os.close(descriptor)
    return arenas


def open_handles(described, device):
    """Arenas by name from ``attach``'s list on a GPU: ``{"name", "bytes", "handle"}``."""
    return {a["name"]: CudaArena(a["name"], a["bytes"], bytes.fromhex(a["handle"]), device) for a in described}
