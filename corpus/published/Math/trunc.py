"""Rounding towards zero.

breaks: dtype:float16, dtype:int32, dtype:int64, non_contiguous, out_argument
"""

import torch
import triton
import triton.language as tl


@triton.jit
def trunc_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, tl.where(x < 0, tl.ceil(x), tl.floor(x)), mask=i < n)


def trunc(input, out=None):
    result = torch.empty_like(input)
    n = input.numel()
    trunc_kernel[(triton.cdiv(n, 1024),)](input, result, n, BLOCK=1024)
    return result
