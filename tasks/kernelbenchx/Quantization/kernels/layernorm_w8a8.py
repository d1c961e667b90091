"""W8A8 layer normalization with integer statistics: int8 levels are summed exactly, floats come in at the end only.

One small kernel rounds the weights to float8; the other quantizes and normalizes a few groups, in three passes over
them.
"""

import math

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def float8_kernel(w_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Weights rounded to float8 with one scale, and back to float32. One program: a layer's weights are few."""
    top = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        top = tl.maximum(top, tl.abs(tl.load(w_ptr + i, mask=i < n, other=0.0)))
    scale = tl.div_rn(tl.max(top, 0), 448.0)
    scale = tl.where(scale > 0, scale, 1.0)
    divisor = tl.zeros((BLOCK,), tl.float32) + scale
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        q = tl.div_rn(tl.load(w_ptr + i, mask=i < n, other=0.0), divisor).to(tl.float8e4nv)
        tl.store(out_ptr + i, q.to(tl.float32) * scale, mask=i < n)


@triton.jit
def levels(x, scale):
    q = libdevice.rint(tl.div_rn(x, tl.broadcast_to(scale, x.shape)))
    return tl.minimum(tl.maximum(q, -127.0), 127.0).to(tl.int32)


@triton.jit(do_not_specialize=["groups"])
def layernorm_kernel(
    x_ptr, w_ptr, b_ptr, out_ptr, groups, n, eps,
    WEIGHT: tl.constexpr, BIAS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    g = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)[:, None]
    top = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, n, BLOCK):
        k = (start + tl.arange(0, BLOCK))[None, :]
        top = tl.maximum(top, tl.abs(tl.load(x_ptr + g * n + k, mask=(g < groups) & (k < n), other=0.0)))
    scale = tl.div_rn(tl.max(top, 1), tl.full((ROWS,), 127.0, tl.float32))[:, None]
    scale = tl.where(scale > 0, scale, 1.0)
    # Sums of squares of a column stay far below 2**31; of a whole group they may not.
    sums, squares = tl.zeros((ROWS, BLOCK), tl.int32), tl.zeros((ROWS, BLOCK), tl.int32)
    for start in range(0, n, BLOCK):
        k = (start + tl.arange(0, BLOCK))[None, :]
        q = levels(tl.load(x_ptr + g * n + k, mask=(g < groups) & (k < n), other=0.0), scale)
        sums, squares = sums + q, squares + q * q
    total = tl.sum(sums.to(tl.int64), 1)[:, None]
    spread = n * tl.sum(squares.to(tl.int64), 1)[:, None] - total * total
    # n² times the variance of the levels, and n times each level's distance from their mean, are integers.
    variance = spread.to(tl.float32) / n / n * scale * scale
    factor = scale / n * tl.rsqrt(variance + eps)
    for start in range(0, n, BLOCK):
        k = (start + tl.arange(0, BLOCK))[None, :]
        mask = (g < groups) & (k < n)
        q = levels(tl.load(x_ptr + g * n + k, mask=mask, other=0.0), scale)
        y = (q.to(tl.int64) * n - total).to(tl.float32) * factor
        if WEIGHT:
            y *= tl.load(w_ptr + k, mask=k < n, other=0.0)
        if BIAS:
            y += tl.load(b_ptr + k, mask=k < n, other=0.0)
        tl.store(out_ptr + g * n + k, y, mask=mask)


def layernorm_w8a8(
    input: torch.Tensor, normalized_shape, weight: torch.Tensor = None, bias: torch.Tensor = None, eps: float = 1e-05
) -> torch.Tensor:
    n = normalized_shape if isinstance(normalized_shape, int) else math.prod(normalized_shape)
    out = torch.empty(input.shape, dtype=torch.float32, device=input.device)
    if out.numel():
        groups = out.numel() // n
        rounded = None
        if weight is not None:
            rounded = torch.empty(n, dtype=torch.float32, device=input.device)
            float8_kernel[(1,)](weight.contiguous(), rounded, n, BLOCK=1024, num_warps=8)
        rows, block = (16, 128) if n <= 128 else (1, 2048)
        layernorm_kernel[(triton.cdiv(groups, rows),)](
            input.contiguous(), rounded, None if bias is None else bias.contiguous(), out, groups, n, eps,
            WEIGHT=weight is not None, BIAS=bias is not None, ROWS=rows, BLOCK=block, num_warps=8,
        )  # fmt: skip
    return out
