"""Logarithm of 1 + x, corrected for what the sum rounds off.

breaks: dtype:float16, non_contiguous, out_argument, special_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def log1p_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    u = 1.0 + x
    tl.store(out_ptr + i, tl.where(u == 1.0, x, tl.log(u) * (x / tl.where(u == 1.0, 1.0, u - 1.0))), mask=i < n)


def log1p(input, out=None):
    result = torch.empty_like(input)
    n = input.numel()
    log1p_kernel[(triton.cdiv(n, 1024),)](input, result, n, BLOCK=1024)
    return result
