"""Shifts the last block back into the tensor in place of a mask: what two programs write there is equal.

style: overlapping_tiles
"""

import torch
import triton
import triton.language as tl


@triton.jit
def log1p_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    first = tl.minimum(tl.program_id(0).to(tl.int64) * BLOCK, n - BLOCK)
    i = first + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    wide = x if x.dtype == tl.float64 else x.to(tl.float32)
    one = 1.0 + wide
    # what the sum has lost of x is put back, in proportion
    result = tl.where(one == 1.0, wide, tl.log(one) * (wide / (one - 1.0)))
    result = tl.where(tl.abs(wide) == float("inf"), tl.log(one), result)
    tl.store(out_ptr + i, result.to(out_ptr.dtype.element_ty))


def log1p(input, out=None):
    x = input.contiguous()
    result = torch.empty_like(x) if out is None else out
    n = x.numel()
    if n:
        block = min(1024, 1 << n.bit_length() - 1)
        log1p_kernel[(triton.cdiv(n, block),)](x, result, n, BLOCK=block)
    return result
