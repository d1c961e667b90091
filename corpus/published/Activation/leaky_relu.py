"""Leaky ReLU with any slope, in place or not.

breaks: non_contiguous
"""

import torch
import triton
import triton.language as tl


@triton.jit
def leaky_relu_kernel(x_ptr, out_ptr, n, slope, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, tl.where(x > 0, x, slope * x), mask=i < n)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    result = input if inplace else torch.empty_like(input)
    n = input.numel()
    leaky_relu_kernel[(triton.cdiv(n, 1024),)](input, result, n, negative_slope, BLOCK=1024)
    return result
