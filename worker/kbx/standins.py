"""What stands in for parts of torch. The runner and the oracle share it, and so say the same of the same code.

Classes that take ``cuda`` for a device, for code that runs where there is none, do on the CPU what was asked for; a function answers
without what the original would load first.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from kbx import tensors


class Generator(torch.Generator):
    """A generator that may ask for a device; its numbers are the CPU's."""

    def __new__(cls, device: object = "cpu") -> Generator:
        return super().__new__(cls, device="cpu")  # type: ignore[call-arg]  # torch's stub lacks it


class Autocast(torch.autocast):
    """``torch.autocast`` on the CPU, where the tensors are, to the dtype that it would have on a GPU."""

    def __init__(
        self,
        device_type: str,
        dtype: torch.dtype | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if device_type == "cuda":
            device_type, dtype = "cpu", dtype or torch.get_autocast_dtype("cuda")
        super().__init__(device_type, dtype, enabled, cache_enabled)


class CudaAutocast(Autocast):
    """``torch.cuda.amp.autocast``, whose first parameter is another."""

    def __init__(self, enabled: bool = True, dtype: torch.dtype = torch.float16, cache_enabled: bool = True) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)


_broadcast_shapes: Callable[..., torch.Size] = torch.broadcast_shapes


@functools.wraps(_broadcast_shapes)
def broadcast_shapes(*shapes: Any) -> torch.Size:
    if torch.compiler.is_compiling() or torch.jit.is_tracing():
        return _broadcast_shapes(*shapes)
    listed = [(shape,) if type(shape) is int else shape for shape in shapes]
    if all(map(_is_plain, listed)):
        try:
            return tensors.broadcast(*listed)
        except RuntimeError:
            pass  # which the original words better
    return _broadcast_shapes(*shapes)


def _is_plain(shape: object) -> bool:
    return isinstance(shape, (tuple, list)) and all(type(size) is int and size >= 0 for size in shape)


def install() -> None:
    """Lets ``torch.broadcast_shapes``, which many wrappers of kernels call, answer without symbolic mathematics: with these its first
    answer in a process takes half a second, or three where they have no bytecode; on a GPU while others wait for the device."""
    torch.broadcast_shapes = torch.functional.broadcast_shapes = broadcast_shapes


# Messages name them as their users know them.
Autocast.__name__ = CudaAutocast.__name__ = "autocast"
