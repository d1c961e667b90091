"""A bit for each slice, set by `atomic_or`: the program that finds it unset fills the slice, others that name it do nothing.

style: claimed_by_bits
"""

import torch
import triton
import triton.language as tl


@triton.jit
def fill_kernel(x_ptr, index_ptr, claims_ptr, value, outer, size, inner, BLOCK: tl.constexpr):
    slice = tl.load(index_ptr + tl.program_id(0)).to(tl.int32)
    bit = 1 << slice % 32
    if tl.atomic_or(claims_ptr + slice // 32, bit) & bit == 0:
        for start in range(0, outer * inner, BLOCK):
            i = start + tl.arange(0, BLOCK).to(tl.int64)
            at = (i // inner * size + slice) * inner + i % inner
            tl.store(x_ptr + at, tl.full((BLOCK,), value, x_ptr.dtype.element_ty), mask=i < outer * inner)


def index_fill_(dim, x, index, value):
    flat, index = x.contiguous(), index.contiguous()
    dim = dim % x.dim()
    count, size, inner = index.numel(), x.shape[dim], x.shape[dim + 1 :].numel()
    outer = x.shape[:dim].numel()
    if count and outer and inner:
        claims = torch.zeros(triton.cdiv(size, 32), dtype=torch.int32, device=x.device)
        value = float(value) if x.dtype.is_floating_point else int(value)
        fill_kernel[(count,)](flat, index, claims, value, outer, size, inner, BLOCK=1024)
    return x if flat is x else x.copy_(flat)
