"""Launches compiled kernels by the CUDA driver alone.

Triton up to 3.6 has a C compiler make a launcher for each signature of a process, which takes longer than most calls of a candidate; later
versions need none, and what is launched is the same.
"""

from __future__ import annotations

import ctypes
import functools
import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

_MOST_DYNAMIC_SHARED = 8
"""CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES."""
_WITHOUT_ASKING = 48 << 10
"""Bytes of shared memory that any kernel may have."""
_LANES = 32
_SCRATCH = 2
"""Parameters behind those of the signature, both pointers: scratch memory of the grid and of a profiler. A kernel with fewer has none of them."""
_FORMATS = {
    "i1": "b", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u1": "B", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
    "fp16": "e", "fp64": "d",
}  # fmt: skip
"""Of ``struct``, by Triton's names."""
_SINGLE = ("fp32", "f32")


def is_plain(metadata: Mapping[str, Any], types: Sequence[Any]) -> bool:
    """Whether a launch of a kernel with this metadata of Triton's, on parameters of these ``types``, needs no more than ``Kernel`` gives it: not
    clusters, grids that are launched as one, scratch memory or descriptors of tensors."""
    clusters = metadata.get("num_ctas", 1) != 1 or set(metadata.get("cluster_dims", ())) - {1}
    scratch = metadata.get("global_scratch_size", 0) or metadata.get("profile_scratch_size", 0)
    if clusters or scratch or metadata.get("launch_cooperative_grid"):
        return False
    return all(kind.startswith("*") or kind in (*_FORMATS, *_SINGLE, "bf16") for kind in flat(types))


def flat(kinds: Sequence[Any]) -> list[str]:
    """The types of parameters that a kernel is given, those of tuples one by one."""
    found: list[str] = []
    for kind in kinds:
        found += flat(kind) if isinstance(kind, (list, tuple)) else [kind] if kind != "constexpr" else []
    return found


def packed(kind: str, value: Any) -> bytes:
    """A parameter of one of these types as the device has it; ``value`` of a pointer is its address. Raises struct.error, and OverflowError for
    what is too large for half precision."""
    if kind.startswith("*"):
        return struct.pack("<Q", value)
    if kind == "bf16":
        return bytes(ctypes.c_float(value))[2:]  # cut off, as Triton does
    if kind in _SINGLE:
        return bytes(ctypes.c_float(value))  # infinite where it is too large
    return struct.pack("<" + _FORMATS[kind], value)


class Kernel:
    """A kernel on the current device. Raises RuntimeError, with the driver's text."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        """``files``: those of its compilation, by name."""
        metadata = metadata_of(files)
        cubin = next(content for name, content in files.items() if name.endswith(".cubin"))
        self._threads, self._shared = _LANES * metadata["num_warps"], metadata["shared"]
        self._module, self._function = ctypes.c_void_p(), ctypes.c_void_p()
        _call("cuModuleLoadData", ctypes.byref(self._module), cubin)
        try:
            _call("cuModuleGetFunction", ctypes.byref(self._function), self._module, metadata["name"].encode())
            if self._shared > _WITHOUT_ASKING:
                _call("cuFuncSetAttribute", self._function, _MOST_DYNAMIC_SHARED, self._shared)
        except RuntimeError:
            self.unload()
            raise

    def launch(self, grid: Sequence[int], stream: int, parameters: Sequence[bytes]) -> None:
        """``parameters``: as ``packed`` has them."""
        held = [ctypes.create_string_buffer(each, len(each)) for each in (*parameters, *[bytes(8)] * _SCRATCH)]
        pointers = (ctypes.c_void_p * len(held))(*map(ctypes.addressof, held))
        block = self._threads, 1, 1
        _call("cuLaunchKernel", self._function, *grid, *block, self._shared, ctypes.c_void_p(stream), pointers, None)

    def unload(self) -> None:
        """The kernel is not launched any more, and not running."""
        _call("cuModuleUnload", self._module)


def metadata_of(files: Mapping[str, bytes]) -> dict[str, Any]:
    """What Triton says of a compiled kernel."""
    found: dict[str, Any] = json.loads(next(content for name, content in files.items() if name.endswith(".json")))
    return found


@functools.cache
def _driver() -> ctypes.CDLL:
    return ctypes.CDLL("libcuda.so.1")


def _call(name: str, *arguments: Any) -> None:
    if code := getattr(_driver(), name)(*arguments):
        text = ctypes.c_char_p()
        _driver().cuGetErrorString(code, ctypes.byref(text))
        raise RuntimeError(f"{name}: {(text.value or b'').decode()}")
