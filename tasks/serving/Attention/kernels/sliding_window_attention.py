"""Flash attention that begins where the first query's window does. Only blocks at the window's two ends need masks: those between are seen by
all queries of a program."""

import torch
import triton
import triton.language as tl


@triton.jit
def some_keys(
    acc, total, top, q, k_ptr, v_ptr, key_stride, first, last, rows, S, D, window, scale,
    BLOCK_N: tl.constexpr, WIDTH: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    d = tl.arange(0, WIDTH)
    for begin in range(first, last, BLOCK_N):
        columns = begin + tl.arange(0, BLOCK_N)
        at = columns[:, None].to(tl.int64) * key_stride + d[None, :]
        mask = (columns < S)[:, None] & (d < D)[None, :]
        scores = tl.dot(q, tl.trans(tl.load(k_ptr + at, mask=mask, other=0.0))) * scale
        if MASKED:
            back = rows[:, None] - columns[None, :]
            scores = tl.where((back >= 0) & (back < window), scores, float("-inf"))
        new = tl.maximum(top, tl.max(scores, 1))
        # A query whose window begins in a later block has seen nothing yet.
        safe = tl.where(new == float("-inf"), 0.0, new)
        p = tl.exp2(scores - safe[:, None])
        fade = tl.exp2(top - safe)
        total = total * fade + tl.sum(p, 1)
        v = tl.load(v_ptr + at, mask=mask, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * fade[:, None])
        top = new
    return acc, total, top


@triton.jit
def window_kernel(
    q_ptr, k_ptr, v_ptr, sinks_ptr, out_ptr, scale, log2e, S, H, G, D, window,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, WIDTH: tl.constexpr, SINKS: tl.constexpr,
):  # fmt: skip
    first_row, head, batch = tl.program_id(0) * BLOCK_M, tl.program_id(1), tl.program_id(2).to(tl.int64)
    rows = first_row + tl.arange(0, BLOCK_M)
    d = tl.arange(0, WIDTH)
    at = ((batch * S + rows[:, None]) * H + head) * D + d[None, :]
    mask = (rows < S)[:, None] & (d < D)[None, :]
    q = tl.load(q_ptr + at, mask=mask, other=0.0)
    keys = (batch * S * G + head // (H // G)) * D
    acc = tl.zeros((BLOCK_M, WIDTH), tl.float32)
    if SINKS:
        top = tl.zeros((BLOCK_M,), tl.float32) + tl.load(sinks_ptr + head) * log2e
        total = tl.full((BLOCK_M,), 1.0, tl.float32)
    else:
        top = tl.full((BLOCK_M,), float("-inf"), tl.float32)
        total = tl.zeros((BLOCK_M,), tl.float32)
    # Blocks from `begin`; all queries see those from `whole` to `first_row`.
    begin = tl.maximum(0, first_row - window + 1) // BLOCK_N * BLOCK_N
    whole = tl.maximum(0, first_row + BLOCK_M - window)
    whole = tl.minimum((whole + BLOCK_N - 1) // BLOCK_N * BLOCK_N, first_row)
    last = tl.minimum(first_row + BLOCK_M, S)
    acc, total, top = some_keys(
        acc, total, top, q, k_ptr + keys, v_ptr + keys, G * D, begin, whole, rows, S, D, window, scale,
        BLOCK_N, WIDTH, True,
    )  # fmt: skip
    acc, total, top = some_keys(
        acc, total, top, q, k_ptr + keys, v_ptr + keys, G * D, whole, first_row, rows, S, D, window, scale,
        BLOCK_N, WIDTH, False,
    )  # fmt: skip
    acc, total, top = some_keys(
        acc, total, top, q, k_ptr + keys, v_ptr + keys, G * D, first_row, last, rows, S, D, window, scale,
        BLOCK_N, WIDTH, True,
    )  # fmt: skip
    tl.store(out_ptr + at, (acc / total[:, None]).to(tl.bfloat16), mask=mask)


def sliding_window_attention(q, k, v, window: int, sinks=None):
    (B, S, H, D), G = q.shape, k.shape[2]
    out = torch.empty_like(q)
    log2e = 1.4426950408889634
    window_kernel[triton.cdiv(S, 128), H, B](
        q, k, v, q if sinks is None else sinks, out, D**-0.5 * log2e, log2e, S, H, G, D, window,
        BLOCK_M=128, BLOCK_N=64, WIDTH=max(16, triton.next_power_of_2(D)), SINKS=sinks is not None,
        num_warps=8, num_stages=3,
    )  # fmt: skip
    return out
