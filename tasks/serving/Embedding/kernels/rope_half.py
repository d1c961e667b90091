"""One program rotates some heads of one token, queries and keys alike: the token's angles are read once for all of them."""

import torch
import triton
import triton.language as tl


@triton.jit
def rope_half_kernel(
    q_ptr, k_ptr, positions_ptr, table_ptr, q_out, k_out, H, G, D, R,
    HEADS: tl.constexpr, WIDTH: tl.constexpr, REST: tl.constexpr,
):  # fmt: skip
    token = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1) * HEADS + tl.arange(0, HEADS)
    half = R // 2
    j = tl.arange(0, WIDTH)
    at = table_ptr + tl.load(positions_ptr + token) * R + j
    cos = tl.load(at, mask=j < half, other=0.0)[None, :]
    sin = tl.load(at + half, mask=j < half, other=0.0)[None, :]
    of_q = head < H
    of_k = (head >= H) & (head < H + G)
    q_at = (token * H + head) * D
    k_at = (token * G + head - H) * D
    source = tl.where(of_q, q_ptr + q_at, k_ptr + k_at)[:, None]
    target = tl.where(of_q, q_out + q_at, k_out + k_at)[:, None]
    mask = (of_q | of_k)[:, None] & (j < half)[None, :]
    low = tl.load(source + j[None, :], mask=mask, other=0.0).to(tl.float32)
    high = tl.load(source + half + j[None, :], mask=mask, other=0.0).to(tl.float32)
    tl.store(target + j[None, :], (low * cos - high * sin).to(tl.bfloat16), mask=mask)
    tl.store(target + half + j[None, :], (high * cos + low * sin).to(tl.bfloat16), mask=mask)
    if REST:
        rest = R + tl.arange(0, REST)[None, :]
        mask = (of_q | of_k)[:, None] & (rest < D)
        tl.store(target + rest, tl.load(source + rest, mask=mask), mask=mask)


def rope_half(q, k, positions, cos_sin):
    (T, H, D), G, R = q.shape, k.shape[1], cos_sin.shape[1]
    q_out, k_out = torch.empty_like(q), torch.empty_like(k)
    width = triton.next_power_of_2(R // 2)
    rest = triton.next_power_of_2(D - R) if D > R else 0
    heads = min(triton.next_power_of_2(H + G), max(1, 2048 // width))
    rope_half_kernel[(T, triton.cdiv(H + G, heads))](
        q, k, positions, cos_sin, q_out, k_out, H, G, D, R, HEADS=heads, WIDTH=width, REST=rest
    )
    return q_out, k_out
