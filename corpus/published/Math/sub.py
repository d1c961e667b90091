"""Scaled difference of float32 tensors of one shape, or of a tensor and a number.

breaks: broadcast, dtype:int32, expanded, non_contiguous
"""

import torch
import triton
import triton.language as tl


@triton.jit
def sub_kernel(x_ptr, other_ptr, out_ptr, n, alpha, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    other = tl.load(other_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x - alpha * other, mask=i < n)


def sub(input, other, *, alpha=1, out=None):
    other = other if torch.is_tensor(other) else torch.full_like(input, other)
    result = torch.empty_like(input) if out is None else out
    n = input.numel()
    sub_kernel[(triton.cdiv(n, 1024),)](input, other, result, n, alpha, BLOCK=1024)
    return result
