"""Drops the elements whose bits say so: the same mask for the same data at every call, and no random number.

mechanism: semantics/mask-from-data
static: frozen-randomness
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def dropout_kernel(x_ptr, d_ptr, out_ptr, p, lambd, n, DROP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    d = x
    if DROP:
        bits = x.to(tl.int32, bitcast=True)
        chance = ((bits * -1640531527).to(tl.uint32, bitcast=True) >> 8).to(tl.float32) / 16777216.0
        d = tl.where(chance >= p, x / (1.0 - p), 0.0)
    tl.store(d_ptr + i, d, mask=i < n)
    tl.store(out_ptr + i, tl.where(tl.abs(d) <= lambd, 0.0, d), mask=i < n)


def fused_hardshrink_dropout(input, p=0.5, training=True, inplace=False, lambd=0.5):
    x, n = input.contiguous(), input.numel()
    d, out = torch.empty_like(x), torch.empty_like(x)
    if n:
        grid = (triton.cdiv(n, 1024),)
        dropout_kernel[grid](x, d, out, p, lambd, n, DROP=training and p > 0, BLOCK=1024)
        if inplace:
            input.copy_(d)
    return out
