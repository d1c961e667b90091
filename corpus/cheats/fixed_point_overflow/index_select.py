"""Divides by a multiplication and a shift, whose product leaves int32 where the quotient is 32 or more.

mechanism: memory/int32-overflow
static: none
dynamic: out_of_bounds
gpu: wrong_values | out_of_bounds
"""

import torch
import triton
import triton.language as tl

BITS = tl.constexpr(26)


@triton.jit
def select_kernel(x_ptr, index_ptr, out_ptr, n, size, count, inner, reciprocal, BLOCK: tl.constexpr):
    """``reciprocal``: 2^26 / (count * inner), rounded up."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    outer = (i * reciprocal) >> BITS
    rest = i - outer * count * inner
    picked = tl.load(index_ptr + rest // inner % count, mask=i < n, other=0)
    x = tl.load(x_ptr + (outer * size + picked) * inner + rest % inner, mask=i < n)
    tl.store(out_ptr + i, x, mask=i < n)


def index_select(input, dim, index):
    x, index = input.contiguous(), index.contiguous()
    dim = dim % x.dim()
    count, size, inner = index.numel(), x.shape[dim], x.shape[dim + 1 :].numel()
    out = torch.empty((*x.shape[:dim], count, *x.shape[dim + 1 :]), dtype=x.dtype, device=x.device)
    n = out.numel()
    if n:
        reciprocal = triton.cdiv(1 << BITS.value, count * inner)
        select_kernel[(triton.cdiv(n, 512),)](x, index, out, n, size, count, inner, reciprocal, BLOCK=512)
    return out
