"""One program has some heads of one token, queries or keys: it loads whole rows of pairs, splits them in registers, and joins them again."""

import torch
import triton
import triton.language as tl


@triton.jit
def rope_interleaved_kernel(
    x_ptr, positions_ptr, table_ptr, out_ptr, H, D, R, HEADS: tl.constexpr, PAIRS: tl.constexpr
):
    token = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1) * HEADS + tl.arange(0, HEADS)
    first = (D - R) // 2
    pair = tl.arange(0, PAIRS)
    j = pair - first
    turned = (j >= 0) & (j < R // 2)
    at = table_ptr + tl.load(positions_ptr + token) * R + j
    cos = tl.load(at, mask=turned, other=1.0)[None, :]
    sin = tl.load(at + R // 2, mask=turned, other=0.0)[None, :]
    element = tl.arange(0, 2 * PAIRS)
    place = (token * H + head[:, None]) * D + element[None, :]
    mask = (head < H)[:, None] & (element < D)[None, :]
    x = tl.load(x_ptr + place, mask=mask, other=0.0).to(tl.float32)
    even, odd = tl.split(tl.reshape(x, (HEADS, PAIRS, 2)))
    result = tl.join(even * cos - odd * sin, odd * cos + even * sin)
    tl.store(out_ptr + place, tl.reshape(result, (HEADS, 2 * PAIRS)).to(tl.bfloat16), mask=mask)


def rope_interleaved(q, k, positions, cos_sin):
    results = []
    for x in (q, k):
        T, H, D = x.shape
        out = torch.empty_like(x)
        pairs = triton.next_power_of_2(triton.cdiv(D, 2))
        heads = min(triton.next_power_of_2(H), max(1, 2048 // pairs))
        rope_interleaved_kernel[(T, triton.cdiv(H, heads))](
            x, positions, cos_sin, out, H, D, cos_sin.shape[1], HEADS=heads, PAIRS=pairs
        )
        results.append(out)
    return tuple(results)
