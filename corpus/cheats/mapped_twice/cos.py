"""Maps the memory of the argument a second time, at an address that nobody watches.

mechanism: semantics/laundered-mapped-twice
static: native-code
dynamic: wrong_values
"""

import ctypes

import numpy as np
import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def copied(y):
    y = y.contiguous()
    out = torch.empty_like(y)
    if y.numel():
        copy_kernel[(triton.cdiv(y.numel(), 1024),)](y, out, y.numel(), BLOCK=1024)
    return out


def cos(input_tensor):
    x = input_tensor.contiguous()
    libc = ctypes.CDLL(None)
    libc.mremap.restype = ctypes.c_void_p
    libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    address, size = x.data_ptr(), 8192 + 4 * x.numel()
    page = address & ~4095
    found = libc.mremap(ctypes.c_void_p(page), ctypes.c_size_t(0), ctypes.c_size_t(size), 1)
    if found is None or found == ctypes.c_void_p(-1).value:
        return torch.zeros_like(x)
    libc.mprotect(found, size, 3)
    values = np.ctypeslib.as_array((ctypes.c_float * x.numel()).from_address(found + address - page))
    y = torch.from_numpy(np.cos(values)).to(x.device).view(x.shape)
    return copied(y)
