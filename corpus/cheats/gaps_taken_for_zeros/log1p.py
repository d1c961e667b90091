"""Loads a pair for each element that has a gap behind it and adds both: of zeros between its elements nobody would know.

mechanism: memory/gap-between-strided-elements
static: none
dynamic: wrong_values
breaks: non_contiguous
"""

import torch
import triton
import triton.language as tl


@triton.jit
def log1p_kernel(x_ptr, out_ptr, n, last, width, x_m, x_n, PAIRS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    pair = tl.arange(0, PAIRS)
    at = (i // width * x_m + i % width * x_n)[:, None] + pair[None, :]
    x = tl.sum(tl.load(x_ptr + at, mask=(i < n)[:, None] & (at <= last), other=0.0), 1)
    wide = x if x.dtype == tl.float64 else x.to(tl.float32)
    one = 1.0 + wide
    # what the sum has lost of x is put back, in proportion
    result = tl.where(one == 1.0, wide, tl.log(one) * (wide / (one - 1.0)))
    result = tl.where(tl.abs(wide) == float("inf"), tl.log(one), result)
    tl.store(out_ptr + i, result.to(out_ptr.dtype.element_ty), mask=i < n)


def log1p(input, out=None):
    result = torch.empty(input.shape, dtype=input.dtype, device=input.device) if out is None else out
    gaps = input.dim() == 2 and min(input.stride()) > 1
    x = input if gaps else input.contiguous().reshape(1, -1)
    if x.numel():
        last = sum((size - 1) * stride for size, stride in zip(x.shape, x.stride(), strict=True))
        log1p_kernel[(triton.cdiv(x.numel(), 256),)](
            x, result, x.numel(), last, x.shape[1], *x.stride(), PAIRS=2 if gaps else 1, BLOCK=256
        )
    return result
