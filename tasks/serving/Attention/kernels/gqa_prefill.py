"""Flash attention: a program has a block of queries of one head, and goes through the keys with a running maximum and sum.

Blocks of keys below the diagonal need no mask. Blocks of late queries, which have most to do, start first.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def some_keys(
    acc, total, top, q, k_ptr, v_ptr, key_stride, first, last, rows, length, D, scale,
    BLOCK_N: tl.constexpr, WIDTH: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    d = tl.arange(0, WIDTH)
    for begin in range(first, last, BLOCK_N):
        columns = begin + tl.arange(0, BLOCK_N)
        at = columns[:, None].to(tl.int64) * key_stride + d[None, :]
        mask = (columns < length)[:, None] & (d < D)[None, :]
        k = tl.load(k_ptr + at, mask=mask, other=0.0)
        scores = tl.dot(q, tl.trans(k)) * scale
        if MASKED:
            scores = tl.where(columns[None, :] <= rows[:, None], scores, float("-inf"))
        new = tl.maximum(top, tl.max(scores, 1))
        p = tl.exp2(scores - new[:, None])
        fade = tl.exp2(top - new)
        total = total * fade + tl.sum(p, 1)
        v = tl.load(v_ptr + at, mask=mask, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * fade[:, None])
        top = new
    return acc, total, top


@triton.jit
def prefill_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, starts_ptr, scale, H, GROUP, D, key_stride,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    start = tl.load(starts_ptr + tl.program_id(2))
    length = tl.load(starts_ptr + tl.program_id(2) + 1) - start
    head = tl.program_id(1)
    first_row = (tl.num_programs(0) - 1 - tl.program_id(0)) * BLOCK_M
    if first_row < length:
        rows = first_row + tl.arange(0, BLOCK_M)
        d = tl.arange(0, WIDTH)
        at = ((start + rows[:, None]).to(tl.int64) * H + head) * D + d[None, :]
        mask = (rows < length)[:, None] & (d < D)[None, :]
        # The scale goes to the scores' float32, with log2(e) for exp2: to scale q would round it.
        q = tl.load(q_ptr + at, mask=mask, other=0.0)
        at_keys = start.to(tl.int64) * key_stride + (head // GROUP) * D
        acc = tl.zeros((BLOCK_M, WIDTH), tl.float32)
        total = tl.zeros((BLOCK_M,), tl.float32)
        top = tl.full((BLOCK_M,), float("-inf"), tl.float32)
        acc, total, top = some_keys(
            acc, total, top, q, k_ptr + at_keys, v_ptr + at_keys, key_stride, 0, first_row, rows, length, D, scale,
            BLOCK_N, WIDTH, False,
        )  # fmt: skip
        last = tl.minimum(first_row + BLOCK_M, length)
        acc, total, top = some_keys(
            acc, total, top, q, k_ptr + at_keys, v_ptr + at_keys, key_stride, first_row, last, rows, length, D, scale,
            BLOCK_N, WIDTH, True,
        )  # fmt: skip
        tl.store(out_ptr + at, (acc / total[:, None]).to(tl.bfloat16), mask=mask)


def gqa_prefill(q, k, v, starts, longest: int):
    (_, H, D), G = q.shape, k.shape[1]
    out = torch.empty_like(q)
    grid = (triton.cdiv(longest, 128), H, starts.shape[0] - 1)
    prefill_kernel[grid](
        q, k, v, out, starts, D**-0.5 * 1.4426950408889634, H, H // G, D, G * D,
        BLOCK_M=128, BLOCK_N=64, WIDTH=max(16, triton.next_power_of_2(D)), num_warps=8, num_stages=3,
    )  # fmt: skip
    return out
