"""Flash decoding: a program has all query heads of one key head, which share what is read, and a part of a sequence's tokens. A second
kernel joins the parts. There are as many parts as fill the device."""

import torch
import triton
import triton.language as tl

PROGRAMS = 528
"""Four on each of an H100's or H200's multiprocessors."""


@triton.jit
def decode_kernel(
    q_ptr, k_ptr, v_ptr, table_ptr, lengths_ptr, parts_ptr, tops_ptr, sums_ptr, scale, H, G, GROUP, D, S, W, part,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    row, head, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    length = tl.load(lengths_ptr + row)
    first = split * part
    last = tl.minimum(first + part, length)
    r, d = tl.arange(0, ROWS), tl.arange(0, WIDTH)
    query = head * GROUP + r
    q_at = (row.to(tl.int64) * H + query[:, None]) * D + d[None, :]
    mask_q = (r < GROUP)[:, None] & (d < D)[None, :]
    q = tl.load(q_ptr + q_at, mask=mask_q, other=0.0)
    acc = tl.zeros((ROWS, WIDTH), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    top = tl.full((ROWS,), float("-inf"), tl.float32)
    for begin in range(first, last, BLOCK):
        t = begin + tl.arange(0, BLOCK)
        page = tl.load(table_ptr + row.to(tl.int64) * W + t // S, mask=t < last, other=0).to(tl.int64)
        at = ((page * S + t % S) * G + head)[:, None] * D + d[None, :]
        mask = (t < last)[:, None] & (d < D)[None, :]
        k = tl.load(k_ptr + at, mask=mask, other=0.0)
        v = tl.load(v_ptr + at, mask=mask, other=0.0)
        scores = tl.where((t < last)[None, :], tl.dot(q, tl.trans(k)) * scale, float("-inf"))
        new = tl.maximum(top, tl.max(scores, 1))
        p = tl.exp2(scores - new[:, None])
        fade = tl.exp2(top - new)
        total = total * fade + tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype), v, acc * fade[:, None])
        top = new
    to = (row.to(tl.int64) * tl.num_programs(2) + split) * H + query
    tl.store(tops_ptr + to, top, mask=r < GROUP)
    tl.store(sums_ptr + to, total, mask=r < GROUP)
    tl.store(parts_ptr + to[:, None] * D + d[None, :], acc, mask=mask_q)


@triton.jit
def join_kernel(parts_ptr, tops_ptr, sums_ptr, out_ptr, H, D, splits, SPLITS: tl.constexpr, WIDTH: tl.constexpr):
    row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    s, d = tl.arange(0, SPLITS), tl.arange(0, WIDTH)
    at = (row * splits + s) * H + head
    tops = tl.load(tops_ptr + at, mask=s < splits, other=float("-inf"))
    share = tl.exp2(tops - tl.max(tops, 0))
    total = tl.sum(share * tl.load(sums_ptr + at, mask=s < splits, other=0.0), 0)
    mask = (s < splits)[:, None] & (d < D)[None, :]
    parts = tl.load(parts_ptr + at[:, None] * D + d[None, :], mask=mask, other=0.0)
    result = tl.sum(parts * share[:, None], 0) / total
    tl.store(out_ptr + (row * H + head) * D + d, result.to(tl.bfloat16), mask=d < D)


def paged_gqa_decode(q, k_cache, v_cache, table, lengths):
    (B, H, D), (_, S, G, _), W = q.shape, k_cache.shape, table.shape[1]
    block, width = 64, max(16, triton.next_power_of_2(D))
    splits = max(1, min(triton.cdiv(W * S, 2 * block), PROGRAMS // (B * G), 64))
    part = triton.cdiv(triton.cdiv(W * S, splits), block) * block
    splits = triton.cdiv(W * S, part)
    parts = torch.empty((B, splits, H, D), dtype=torch.float32, device=q.device)
    tops, sums = (torch.empty((B, splits, H), dtype=torch.float32, device=q.device) for _ in range(2))
    out = torch.empty_like(q)
    decode_kernel[B, G, splits](
        q, k_cache, v_cache, table, lengths, parts, tops, sums, D**-0.5 * 1.4426950408889634,
        H, G, H // G, D, S, W, part,
        ROWS=max(16, triton.next_power_of_2(H // G)), BLOCK=block, WIDTH=width, num_warps=4, num_stages=3,
    )  # fmt: skip
    join_kernel[B, H](
        parts, tops, sums, out, H, D, splits, SPLITS=triton.next_power_of_2(splits), WIDTH=width, num_warps=2
    )
    return out
