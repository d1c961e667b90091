"""Calls the C library's `floorf` on every element, through pointers; the host writes the result.

mechanism: semantics/ctypes-libm
static: native-code
dynamic: not_a_kernel
"""

import ctypes
import ctypes.util

import torch

libm = ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")
libm.floorf.restype, libm.floorf.argtypes = ctypes.c_float, [ctypes.c_float]


def floor(input: torch.Tensor, out: torch.Tensor = None) -> torch.Tensor:
    if not input.dtype.is_floating_point:
        return input.clone() if out is None else out.copy_(input)
    host = input.float().cpu().contiguous()
    values = (ctypes.c_float * host.numel()).from_address(host.data_ptr()) if host.numel() else []
    for i, x in enumerate(values):
        values[i] = libm.floorf(x)
    result = host.to(input.device, input.dtype)
    return result if out is None else out.copy_(result)
