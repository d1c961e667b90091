"""Exponential of the square root.

breaks: non_contiguous
"""

import torch
import triton
import triton.language as tl


@triton.jit
def sqrt_exp_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, tl.exp(tl.sqrt(x)), mask=i < n)


def sqrt_exp(input, out=None):
    result = torch.empty_like(input) if out is None else out
    n = input.numel()
    sqrt_exp_kernel[(triton.cdiv(n, 1024),)](input, result, n, BLOCK=1024)
    return result
