"""Has the memory of the argument opened for reading by a system call, then reads it on the host.

mechanism: semantics/laundered-opened-by-mprotect
static: native-code
dynamic: cheating | wrong_dtype
gpu: wrong_values
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
    address = x.data_ptr()
    page = ctypes.c_void_p(address & ~4095)
    ctypes.CDLL(None).mprotect(page, ctypes.c_size_t(4096 + 4 * x.numel()), 3)
    values = np.ctypeslib.as_array((ctypes.c_float * x.numel()).from_address(address)) if x.numel() else np.empty(0, np.float32)
    y = torch.from_numpy(np.cos(values)).to(x.device).view(x.shape)
    return copied(y)
