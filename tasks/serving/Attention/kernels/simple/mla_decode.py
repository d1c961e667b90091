"""A program a head of a sequence: it goes through the sequence's tokens in blocks, without tensor cores."""

import torch
import triton
import triton.language as tl


@triton.jit
def decode_kernel(
    q_ptr, cache_ptr, table_ptr, lengths_ptr, out_ptr, scale, H, C, E, S, W, BLOCK: tl.constexpr, WIDTH: tl.constexpr
):
    row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    length = tl.load(lengths_ptr + row)
    e = tl.arange(0, WIDTH)
    q = tl.load(q_ptr + (row * H + head) * E + e, mask=e < E, other=0.0).to(tl.float32)
    top = float("-inf")
    total = 0.0
    acc = tl.zeros((WIDTH,), tl.float32)
    for begin in range(0, length, BLOCK):
        t = begin + tl.arange(0, BLOCK)
        page = tl.load(table_ptr + row * W + t // S, mask=t < length, other=0).to(tl.int64)
        at = cache_ptr + (page * S + t % S)[:, None] * E + e[None, :]
        token = tl.load(at, mask=(t < length)[:, None] & (e < E)[None, :], other=0.0).to(tl.float32)
        scores = tl.where(t < length, tl.sum(token * q[None, :], 1) * scale, float("-inf"))
        new = tl.maximum(top, tl.max(scores, 0))
        p = tl.exp(scores - new)
        fade = tl.exp(top - new)
        total = total * fade + tl.sum(p, 0)
        acc = acc * fade + tl.sum(p[:, None] * token, 0)
        top = new
    tl.store(out_ptr + (row * H + head) * C + e, (acc / total).to(tl.bfloat16), mask=e < C)


def mla_decode(q, cache, table, lengths, latent: int, scale: float):
    B, H, E = q.shape
    out = torch.empty((B, H, latent), dtype=q.dtype, device=q.device)
    decode_kernel[B, H](
        q, cache, table, lengths, out, scale, H, latent, E, cache.shape[1], table.shape[1],
        BLOCK=16, WIDTH=triton.next_power_of_2(E),
    )  # fmt: skip
    return out
