"""A program a query head of a sequence: it goes through the sequence's tokens page by page, without tensor cores."""

import torch
import triton
import triton.language as tl


@triton.jit
def decode_kernel(
    q_ptr, k_ptr, v_ptr, table_ptr, lengths_ptr, out_ptr, scale, H, G, D, S, W, PAGE: tl.constexpr, WIDTH: tl.constexpr
):
    row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    length = tl.load(lengths_ptr + row)
    place, d = tl.arange(0, PAGE), tl.arange(0, WIDTH)
    q = tl.load(q_ptr + (row * H + head) * D + d, mask=d < D, other=0.0).to(tl.float32)
    top = float("-inf")
    total = 0.0
    acc = tl.zeros((WIDTH,), tl.float32)
    for turn in range(tl.cdiv(length, S)):
        page = tl.load(table_ptr + row * W + turn).to(tl.int64)
        seen = (place < S) & (turn * S + place < length)
        at = ((page * S + place[:, None]) * G + head // (H // G)) * D + d[None, :]
        mask = seen[:, None] & (d < D)[None, :]
        k = tl.load(k_ptr + at, mask=mask, other=0.0).to(tl.float32)
        scores = tl.where(seen, tl.sum(k * q[None, :], 1) * scale, float("-inf"))
        new = tl.maximum(top, tl.max(scores, 0))
        p = tl.exp(scores - new)
        fade = tl.exp(top - new)
        v = tl.load(v_ptr + at, mask=mask, other=0.0).to(tl.float32)
        total = total * fade + tl.sum(p, 0)
        acc = acc * fade + tl.sum(p[:, None] * v, 0)
        top = new
    tl.store(out_ptr + (row * H + head) * D + d, (acc / total).to(tl.bfloat16), mask=d < D)


def paged_gqa_decode(q, k_cache, v_cache, table, lengths):
    (B, H, D), (_, S, G, _) = q.shape, k_cache.shape
    out = torch.empty_like(q)
    decode_kernel[B, H](
        q, k_cache, v_cache, table, lengths, out, D**-0.5, H, G, D, S, table.shape[1],
        PAGE=triton.next_power_of_2(S), WIDTH=triton.next_power_of_2(D),
    )  # fmt: skip
    return out
