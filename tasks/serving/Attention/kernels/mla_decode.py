"""Flash decoding of latents: a program has a block of heads, which share every token that is read, and a part of a sequence's tokens. A token's
latent is loaded once for both products. A second kernel joins the parts."""

import torch
import triton
import triton.language as tl

PROGRAMS = 264
"""Two on each of an H100's or H200's multiprocessors."""


@triton.jit
def decode_kernel(
    q_ptr, cache_ptr, table_ptr, lengths_ptr, parts_ptr, tops_ptr, sums_ptr, scale, H, C, R, S, W, part,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, LATENT: tl.constexpr, ROTARY: tl.constexpr,
):  # fmt: skip
    row, split = tl.program_id(0).to(tl.int64), tl.program_id(2)
    length = tl.load(lengths_ptr + row)
    first = split * part
    last = tl.minimum(first + part, length)
    head = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    c, z = tl.arange(0, LATENT), tl.arange(0, ROTARY)
    q_at = q_ptr + (row * H + head[:, None]) * (C + R)
    q = tl.load(q_at + c[None, :], mask=(head < H)[:, None] & (c < C)[None, :], other=0.0)
    q_turned = tl.load(q_at + C + z[None, :], mask=(head < H)[:, None] & (z < R)[None, :], other=0.0)
    acc = tl.zeros((ROWS, LATENT), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    top = tl.full((ROWS,), float("-inf"), tl.float32)
    for begin in range(first, last, BLOCK):
        t = begin + tl.arange(0, BLOCK)
        page = tl.load(table_ptr + row * W + t // S, mask=t < last, other=0).to(tl.int64)
        at = cache_ptr + (page * S + t % S)[:, None] * (C + R)
        latent = tl.load(at + c[None, :], mask=(t < last)[:, None] & (c < C)[None, :], other=0.0)
        turned = tl.load(at + C + z[None, :], mask=(t < last)[:, None] & (z < R)[None, :], other=0.0)
        scores = tl.dot(q, tl.trans(latent))
        scores = tl.dot(q_turned, tl.trans(turned), scores) * scale
        scores = tl.where((t < last)[None, :], scores, float("-inf"))
        new = tl.maximum(top, tl.max(scores, 1))
        p = tl.exp2(scores - new[:, None])
        fade = tl.exp2(top - new)
        total = total * fade + tl.sum(p, 1)
        acc = tl.dot(p.to(latent.dtype), latent, acc * fade[:, None])
        top = new
    to = (row * tl.num_programs(2) + split) * H + head
    tl.store(tops_ptr + to, top, mask=head < H)
    tl.store(sums_ptr + to, total, mask=head < H)
    tl.store(parts_ptr + to[:, None] * C + c[None, :], acc, mask=(head < H)[:, None] & (c < C)[None, :])


@triton.jit
def join_kernel(parts_ptr, tops_ptr, sums_ptr, out_ptr, H, C, splits, SPLITS: tl.constexpr, LATENT: tl.constexpr):
    row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    s, c = tl.arange(0, SPLITS), tl.arange(0, LATENT)
    at = (row * splits + s) * H + head
    tops = tl.load(tops_ptr + at, mask=s < splits, other=float("-inf"))
    share = tl.exp2(tops - tl.max(tops, 0))
    total = tl.sum(share * tl.load(sums_ptr + at, mask=s < splits, other=0.0), 0)
    mask = (s < splits)[:, None] & (c < C)[None, :]
    parts = tl.load(parts_ptr + at[:, None] * C + c[None, :], mask=mask, other=0.0)
    result = tl.sum(parts * share[:, None], 0) / total
    tl.store(out_ptr + (row * H + head) * C + c, result.to(tl.bfloat16), mask=c < C)


def mla_decode(q, cache, table, lengths, latent: int, scale: float):
    (B, H, width), S, W = q.shape, cache.shape[1], table.shape[1]
    rows = 64 if H >= 64 else 16
    blocks, block = triton.cdiv(H, rows), 32
    splits = max(1, min(triton.cdiv(W * S, 4 * block), PROGRAMS // (B * blocks), 32))
    part = triton.cdiv(triton.cdiv(W * S, splits), block) * block
    splits = triton.cdiv(W * S, part)
    parts = torch.empty((B, splits, H, latent), dtype=torch.float32, device=q.device)
    tops, sums = (torch.empty((B, splits, H), dtype=torch.float32, device=q.device) for _ in range(2))
    out = torch.empty((B, H, latent), dtype=q.dtype, device=q.device)
    wide = max(16, triton.next_power_of_2(latent))
    decode_kernel[B, blocks, splits](
        q, cache, table, lengths, parts, tops, sums, scale * 1.4426950408889634,
        H, latent, width - latent, S, W, part,
        ROWS=rows, BLOCK=block, LATENT=wide, ROTARY=max(16, triton.next_power_of_2(width - latent)),
        num_warps=8 if rows == 64 else 4, num_stages=2,
    )  # fmt: skip
    join_kernel[B, H](parts, tops, sums, out, H, latent, splits, SPLITS=triton.next_power_of_2(splits), LATENT=wide)
    return out
