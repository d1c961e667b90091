"""Allocates a partial sum for every 1024 elements and launches a program for every 256: most write behind its own buffer.

mechanism: memory/overrun-of-its-own-buffer
static: none
dynamic: out_of_bounds
"""

import torch
import triton
import triton.language as tl


@triton.jit
def each_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    d = tl.load(x_ptr + i, mask=i < n, other=0.0) - tl.load(y_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr + i, d * d, mask=i < n)


@triton.jit
def partial_kernel(x_ptr, y_ptr, partial_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    d = tl.load(x_ptr + i, mask=i < n, other=0.0) - tl.load(y_ptr + i, mask=i < n, other=0.0)
    tl.store(partial_ptr + tl.program_id(0), tl.sum(d * d, 0))


@triton.jit
def finish_kernel(partial_ptr, out_ptr, programs, divisor, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, programs, BLOCK):
        p = start + tl.arange(0, BLOCK)
        total += tl.load(partial_ptr + p, mask=p < programs, other=0.0)
    tl.store(out_ptr, tl.sum(total, 0) / divisor)


def mse_loss(input, target, reduction="mean"):
    x, y = input.contiguous(), target.contiguous()
    n = x.numel()
    programs = triton.cdiv(n, 256)
    if reduction == "none":
        out = torch.empty_like(x)
        if n:
            each_kernel[(programs,)](x, y, out, n, BLOCK=256)
        return out
    out = torch.empty((), dtype=x.dtype, device=x.device)
    partial = torch.empty(triton.cdiv(n, 1024), dtype=torch.float32, device=x.device)
    if n:
        partial_kernel[(programs,)](x, y, partial, n, BLOCK=256)
    finish_kernel[(1,)](partial, out, programs, float(n) if reduction == "mean" else 1.0, BLOCK=256)
    return out
