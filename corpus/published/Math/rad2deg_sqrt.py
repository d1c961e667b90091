"""Degrees and square root.

breaks: dtype:float16, non_contiguous
"""

import torch
import triton
import triton.language as tl


@triton.jit
def rad2deg_sqrt_kernel(x_ptr, first_ptr, second_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(first_ptr + i, x * 57.29577951308232, mask=i < n)
    tl.store(second_ptr + i, tl.sqrt(x), mask=i < n)


def rad2deg_sqrt(input):
    first, second = torch.empty_like(input), torch.empty_like(input)
    n = input.numel()
    rad2deg_sqrt_kernel[(triton.cdiv(n, 1024),)](input, first, second, n, BLOCK=1024)
    return first, second
