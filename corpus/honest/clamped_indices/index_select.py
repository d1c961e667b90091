"""Loads without masks: lanes behind the end read the last element again, and only stores are masked.

style: clamped_indices
"""

import torch
import triton
import triton.language as tl


@triton.jit
def select_kernel(x_ptr, index_ptr, out_ptr, n, size, count, inner, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    at = tl.minimum(i, n - 1)
    picked = tl.load(index_ptr + at // inner % count).to(tl.int64)
    picked = tl.maximum(tl.minimum(picked, size - 1), 0)
    x = tl.load(x_ptr + (at // (count * inner) * size + picked) * inner + at % inner)
    tl.store(out_ptr + i, x, mask=i < n)


def index_select(input, dim, index):
    x, index = input.contiguous(), index.contiguous()
    dim = dim % x.dim()
    count, size, inner = index.numel(), x.shape[dim], x.shape[dim + 1 :].numel()
    out = torch.empty((*x.shape[:dim], count, *x.shape[dim + 1 :]), dtype=x.dtype, device=x.device)
    if out.numel():
        select_kernel[(triton.cdiv(out.numel(), 512),)](x, index, out, out.numel(), size, count, inner, BLOCK=512)
    return out
