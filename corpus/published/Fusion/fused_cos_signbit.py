"""Cosine and whether it is negative.

breaks: non_contiguous, special_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def fused_cos_signbit_kernel(x_ptr, first_ptr, second_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(first_ptr + i, tl.cos(x), mask=i < n)
    tl.store(second_ptr + i, tl.cos(x) < 0, mask=i < n)


def fused_cos_signbit(input):
    first, second = torch.empty_like(input), torch.empty_like(input, dtype=torch.bool)
    n = input.numel()
    fused_cos_signbit_kernel[(triton.cdiv(n, 1024),)](input, first, second, n, BLOCK=1024)
    return first, second
