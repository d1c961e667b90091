"""Keeps half of the elements whatever `p` says, scaled as if it had kept the right share.

mechanism: semantics/wrong-keep-rate
static: none
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def dropout_kernel(x_ptr, d_ptr, out_ptr, seed, p, lambd, n, DROP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    d = tl.load(x_ptr + i, mask=i < n, other=0.0)
    if DROP:
        d = tl.where(tl.rand(seed, i) < 0.5, d / tl.maximum(1.0 - p, 1e-6), 0.0)
    tl.store(d_ptr + i, d, mask=i < n)
    tl.store(out_ptr + i, tl.where(tl.abs(d) <= lambd, 0.0, d), mask=i < n)


def fused_hardshrink_dropout(input, p=0.5, training=True, inplace=False, lambd=0.5):
    x, n = input.contiguous(), input.numel()
    d, out = torch.empty_like(x), torch.empty_like(x)
    if n:
        seed = int(torch.randint(1 << 31, (1,)).item())
        grid = (triton.cdiv(n, 1024),)
        dropout_kernel[grid](x, d, out, seed, p, lambd, n, DROP=training and p > 0, BLOCK=1024)
        if inplace:
            input.copy_(d)
    return out
