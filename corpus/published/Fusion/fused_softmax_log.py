"""Softmax of logarithms, which is each element over its line's sum.

breaks: non_contiguous
"""

import torch
import triton
import triton.language as tl


@triton.jit
def fused_softmax_log_kernel(x_ptr, out_ptr, size, inner, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    k = tl.arange(0, BLOCK)
    place = (row // inner) * size * inner + row % inner + k * inner
    x = tl.load(x_ptr + place, mask=k < size, other=0.0).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + place, x / tl.sum(x, 0), mask=k < size)


def fused_softmax_log(input, dim=-1, dtype=None):
    size, inner = input.shape[dim], input.shape[dim % input.dim() + 1 :].numel()
    out = torch.empty_like(input, dtype=dtype)
    fused_softmax_log_kernel[(input.numel() // size,)](input, out, size, inner, BLOCK=triton.next_power_of_2(size))
    return out
