"""Keeps its running sums in bfloat16 and adds integers up in 32 bits.

mechanism: semantics/narrow-sum
static: none
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def row_sums_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.bfloat16 if x_ptr.dtype.element_ty.is_floating() else tl.int32)
    for start in range(0, count, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * count + i, mask=i < count, other=0).to(total.dtype)
    tl.store(out_ptr + row, tl.sum(total.to(tl.float32) if total.dtype == tl.bfloat16 else total, 0))


def sum(input, dim, keepdim=False, dtype=None):
    dims = [d % input.dim() for d in (dim if isinstance(dim, tuple) else (dim,))]
    kept = [d for d in range(input.dim()) if d not in dims]
    rows = input.permute(*kept, *dims).flatten(len(kept)).contiguous()
    dtype = dtype or (input.dtype if input.dtype.is_floating_point else torch.int64)
    shape = [1 if d in dims else size for d, size in enumerate(input.shape)] if keepdim else rows.shape[:-1]
    out = torch.empty(shape, dtype=dtype, device=input.device)
    if out.numel():
        row_sums_kernel[(out.numel(),)](rows, out, rows.shape[-1], BLOCK=128)
    return out
