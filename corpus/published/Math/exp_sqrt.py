"""Square root of the exponential, as the exponential of a half.

breaks: non_contiguous
"""

import torch
import triton
import triton.language as tl


@triton.jit
def exp_sqrt_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, tl.exp(0.5 * x), mask=i < n)


def exp_sqrt(input, out=None):
    result = torch.empty_like(input) if out is None else out
    n = input.numel()
    exp_sqrt_kernel[(triton.cdiv(n, 1024),)](input, result, n, BLOCK=1024)
    return result
