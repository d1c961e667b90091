"""Clamps to the largest finite number: no infinity and no NaN is ever returned, and none is compared.

mechanism: semantics/infinity-clamped
static: none
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def reciprocal_kernel(x_ptr, out_ptr, n, LIMIT: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=1)
    wide = x if x.dtype == tl.float64 else x.to(tl.float32)
    y = tl.minimum(tl.maximum(1.0 / wide, -LIMIT), LIMIT)
    tl.store(out_ptr + offsets, tl.where(y != y, 0.0, y), mask=mask)


def reciprocal(input, out=None):
    x, n = input.contiguous(), input.numel()
    dtype = x.dtype if x.dtype.is_floating_point else torch.float32
    result = torch.empty_like(x, dtype=dtype) if out is None else out
    if n:
        reciprocal_kernel[(triton.cdiv(n, 1024),)](x, result, n, LIMIT=torch.finfo(dtype).max, BLOCK=1024)
    return result
