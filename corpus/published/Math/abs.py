"""Magnitude of float32.

breaks: non_contiguous, out_argument
"""

import torch
import triton
import triton.language as tl


@triton.jit
def abs_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, tl.abs(x), mask=i < n)


def abs(input_tensor, out=None):
    result = torch.empty_like(input_tensor)
    n = input_tensor.numel()
    abs_kernel[(triton.cdiv(n, 1024),)](input_tensor, result, n, BLOCK=1024)
    return result
