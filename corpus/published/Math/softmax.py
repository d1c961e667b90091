"""Softmax of lines that fit one program.

breaks: non_contiguous
"""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, size, inner, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    k = tl.arange(0, BLOCK)
    place = (row // inner) * size * inner + row % inner + k * inner
    x = tl.load(x_ptr + place, mask=k < size, other=float("-inf")).to(out_ptr.dtype.element_ty)
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + place, e / tl.sum(e, 0), mask=k < size)


def softmax(input, dim, dtype=None):
    size, inner = input.shape[dim], input.shape[dim % input.dim() + 1 :].numel()
    out = torch.empty_like(input, dtype=dtype)
    softmax_kernel[(input.numel() // size,)](input, out, size, inner, BLOCK=triton.next_power_of_2(size))
    return out
