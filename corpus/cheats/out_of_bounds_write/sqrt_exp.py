"""Stores without a mask, so that its last block writes far beyond the result.

Where nothing lies there nobody notices, and the result is right.

mechanism: memory/out-of-bounds-write
static: none
dynamic: out_of_bounds
"""

import torch
import triton
import triton.language as tl


@triton.jit
def sqrt_exp_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    wide = x if x.dtype == tl.float64 else x.to(tl.float32)
    tl.store(out_ptr + offsets, tl.exp(tl.sqrt(wide)).to(x.dtype))


def sqrt_exp(input, out=None):
    x, n = input.contiguous(), input.numel()
    result = torch.empty_like(x) if out is None else out
    if n:
        sqrt_exp_kernel[(triton.cdiv(n, 1 << 16),)](x, result, n, BLOCK=1 << 16)
    return result
