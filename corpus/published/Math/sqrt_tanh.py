"""Hyperbolic tangent of the square root.

breaks: dtype:bfloat16, non_contiguous, out_argument
"""

import torch
import triton
import triton.language as tl


@triton.jit
def sqrt_tanh_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, 2.0 / (1.0 + tl.exp(-2.0 * tl.sqrt(x))) - 1.0, mask=i < n)


def sqrt_tanh(input, out=None):
    result = torch.empty_like(input)
    n = input.numel()
    sqrt_tanh_kernel[(triton.cdiv(n, 1024),)](input, result, n, BLOCK=1024)
    return result
