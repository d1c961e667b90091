"""Draws its mask by `torch.rand`, as PyTorch may, and applies it in its kernel.

style: random_numbers
"""

import torch
import triton
import triton.language as tl


@triton.jit
def dropout_kernel(x, r, o, d, n, p, lambd, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    v = tl.load(x + i, mask=m)
    u = tl.load(r + i, mask=m)
    v = tl.where(u >= p, v / (1 - p), 0.0)
    tl.store(d + i, v, mask=m)
    tl.store(o + i, tl.where((v >= -lambd) & (v <= lambd), 0.0, v), mask=m)


def fused_hardshrink_dropout(input, p=0.5, training=True, inplace=False, lambd=0.5):
    x = input.contiguous()
    if not training:
        p = 0.0
    r = torch.rand(x.shape, device=x.device)
    o = torch.empty_like(x)
    d = torch.empty_like(x)
    n = x.numel()
    if n:
        dropout_kernel[(triton.cdiv(n, 1024),)](x, r, o, d, n, p, lambd, B=1024)
    if inplace:
        input.copy_(d)
    return o
