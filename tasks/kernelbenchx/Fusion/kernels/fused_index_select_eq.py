"""The input is seen as (outer, size, inner), the selected dimension in the middle; a program takes a block of results.

Neither the selected slices nor a broadcast ``other`` is ever written to memory.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def select_eq_kernel(
    x_ptr, index_ptr, other_ptr, number, out_ptr, n, size, count, inner, o0, o1, o2,
    NUMBER: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    column = i % inner
    rest = i // inner
    place = rest % count
    outer = rest // count
    picked = tl.load(index_ptr + place, mask=mask, other=0).to(tl.int64)
    x = tl.load(x_ptr + (outer * size + picked) * inner + column, mask=mask, other=0)
    if NUMBER:
        # the number is rounded to the input's dtype before it is compared
        other = tl.full((BLOCK,), number, x_ptr.dtype.element_ty)
    else:
        other = tl.load(other_ptr + outer * o0 + place * o1 + column * o2, mask=mask, other=0)
    tl.store(out_ptr + i, x == other, mask=mask)


def fused_index_select_eq(input, dim, index, other, *, out=None):
    dim = dim % input.dim()
    size, count = input.shape[dim], index.numel()
    shape = torch.Size((*input.shape[:dim], count, *input.shape[dim + 1 :]))
    if out is None:
        out = torch.empty(shape, dtype=torch.bool, device=input.device)
    if out.numel():
        outer, inner = shape[:dim].numel(), shape[dim + 1 :].numel()
        is_number = not isinstance(other, torch.Tensor)
        # a view as a rule; a copy where ``other`` is broadcast in some of the outer or inner dimensions only
        values = input if is_number else other.expand(shape).reshape(outer, count, inner)
        number = other if is_number else 0
        select_eq_kernel[(triton.cdiv(out.numel(), 2048),)](
            input.contiguous(), index.contiguous(), values, float(number) if input.is_floating_point() else number,
            out, out.numel(), size, count, inner, *(values.stride() if not is_number else (0, 0, 0)),
            NUMBER=is_number, BLOCK=2048, num_warps=8,
        )  # fmt: skip
    return out
