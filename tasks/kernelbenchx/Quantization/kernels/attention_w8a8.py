"""W8A8 attention in two passes over the keys: probabilities are quantized by the row's final maximum.

The first pass finds each row's largest score and the sum of exponentials; the second computes the scores again,
quantizes the exponentials and multiplies them with the values, all products in int8 with int32 sums. Scores never leave
the chip.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit(do_not_specialize=["rows", "height"])
def quantize_kernel(
    x_ptr, q_ptr, scale_ptr, rows, height, n, x_b, x_r, x_k, q_b, q_r, q_k, ROWS: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Symmetric int8, one scale per row of each matrix (`height` rows): largest magnitude over 127, 1 for zeros."""
    r = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    b, i = (r // height)[:, None], (r % height)[:, None]
    top = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, n, BLOCK):
        k = (start + tl.arange(0, BLOCK))[None, :]
        mask = (r < rows)[:, None] & (k < n)
        top = tl.maximum(top, tl.abs(tl.load(x_ptr + b * x_b + i * x_r + k * x_k, mask=mask, other=0.0)))
    scale = tl.div_rn(tl.max(top, 1), tl.full((ROWS,), 127.0, tl.float32))
    scale = tl.where(scale > 0, scale, 1.0)
    tl.store(scale_ptr + r, scale, mask=r < rows)
    divisor = tl.broadcast_to(scale[:, None], (ROWS, BLOCK))
    for start in range(0, n, BLOCK):
        k = (start + tl.arange(0, BLOCK))[None, :]
        mask = (r < rows)[:, None] & (k < n)
        q = libdevice.rint(tl.div_rn(tl.load(x_ptr + b * x_b + i * x_r + k * x_k, mask=mask, other=0.0), divisor))
        q = tl.minimum(tl.maximum(q, -127.0), 127.0)
        tl.store(q_ptr + b * q_b + i * q_r + k * q_k, q.to(tl.int8), mask=mask)


@triton.jit
def scores_of(q, q_scale, k_ptr, k_scale_ptr, batch, start, T, D, BLOCK_T: tl.constexpr, HEAD: tl.constexpr):
    """Scores of a block of keys; -inf beyond the last one."""
    t, d = start + tl.arange(0, BLOCK_T), tl.arange(0, HEAD)
    mask = (d < D)[:, None] & (t < T)[None, :]
    k = tl.load(k_ptr + batch * T * D + (t[None, :] * D + d[:, None]), mask=mask, other=0)
    k_scale = tl.load(k_scale_ptr + batch * T + t, mask=t < T, other=0.0)
    scores = tl.dot(q, k, out_dtype=tl.int32).to(tl.float32) * q_scale[:, None] * k_scale[None, :]
    return tl.where((t < T)[None, :], scores, -float("inf"))


@triton.jit(do_not_specialize=["S", "T"])
def attention_kernel(
    q_ptr, k_ptr, v_ptr, q_scale_ptr, k_scale_ptr, v_scale_ptr, out_ptr, scale, S, T, D,
    BLOCK_S: tl.constexpr, BLOCK_T: tl.constexpr, HEAD: tl.constexpr,
):  # fmt: skip
    batch = tl.program_id(1).to(tl.int64)
    s, d = tl.program_id(0) * BLOCK_S + tl.arange(0, BLOCK_S), tl.arange(0, HEAD)
    mask, place = (s < S)[:, None] & (d < D)[None, :], s[:, None] * D + d[None, :]
    q = tl.load(q_ptr + batch * S * D + place, mask=mask, other=0)
    q_scale = tl.load(q_scale_ptr + batch * S + s, mask=s < S, other=0.0) * scale
    top = tl.full((BLOCK_S,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_S,), tl.float32)
    for start in range(0, T, BLOCK_T):
        scores = scores_of(q, q_scale, k_ptr, k_scale_ptr, batch, start, T, D, BLOCK_T, HEAD)
        new_top = tl.maximum(top, tl.max(scores, 1))
        total = total * tl.exp(top - new_top) + tl.sum(tl.exp(scores - new_top[:, None]), 1)
        top = new_top
    acc = tl.zeros((BLOCK_S, HEAD), tl.int32)
    for start in range(0, T, BLOCK_T):
        scores = scores_of(q, q_scale, k_ptr, k_scale_ptr, batch, start, T, D, BLOCK_T, HEAD)
        p = libdevice.rint(127.0 * tl.exp(scores - top[:, None])).to(tl.int8)
        t = start + tl.arange(0, BLOCK_T)
        v_mask = (t < T)[:, None] & (d < D)[None, :]
        v = tl.load(v_ptr + batch * T * D + (t[:, None] * D + d[None, :]), mask=v_mask, other=0)
        acc = tl.dot(p, v, acc, out_dtype=tl.int32)
    v_scale = tl.load(v_scale_ptr + batch * D + d, mask=d < D, other=0.0)
    out = acc.to(tl.float32) / (127.0 * total)[:, None] * v_scale[None, :]
    tl.store(out_ptr + batch * S * D + place, out, mask=mask)


def quantize(x, columns=False):
    """Contiguous int8 levels of matrices, and one float32 scale for each of their rows, or of their columns."""
    q = torch.empty(x.shape, dtype=torch.int8, device=x.device)
    x, levels = (x.mT, q.mT) if columns else (x, q)
    batch, height, n = x.shape
    scale = torch.empty(batch * height, dtype=torch.float32, device=x.device)
    rows, block = (16, 128) if columns else (16, 64)
    quantize_kernel[(triton.cdiv(batch * height, rows),)](
        x, levels, scale, batch * height, height, n, *x.stride(), *levels.stride(), ROWS=rows, BLOCK=block
    )  # fmt: skip
    return q, scale


def attention_w8a8(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    (B, S, D), T = query.shape, key.shape[1]
    out = torch.empty((B, S, D), dtype=torch.float32, device=query.device)
    if out.numel():
        (q, q_scale), (k, k_scale), (v, v_scale) = quantize(query), quantize(key), quantize(value, columns=True)
        attention_kernel[(triton.cdiv(S, 64), B)](
            q, k, v, q_scale, k_scale, v_scale, out, D**-0.5, S, T, D,
            BLOCK_S=64, BLOCK_T=64, HEAD=max(32, triton.next_power_of_2(D)), num_warps=8,
        )  # fmt: skip
    return out
