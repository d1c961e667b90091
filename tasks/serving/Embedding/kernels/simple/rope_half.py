"""A program a head of a token; queries and keys are two launches."""

import torch
import triton
import triton.language as tl


@triton.jit
def rope_half_kernel(x_ptr, positions_ptr, table_ptr, out_ptr, H, D, R, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    position = tl.load(positions_ptr + row // H)
    i = tl.arange(0, BLOCK)
    half = R // 2
    x = tl.load(x_ptr + row * D + i, mask=i < D, other=0.0)
    partner = tl.where(i < half, i + half, i - half)
    other = tl.load(x_ptr + row * D + partner, mask=i < R, other=0.0).to(tl.float32)
    j = tl.where(i < half, i, i - half)
    cos = tl.load(table_ptr + position * R + j, mask=i < R, other=1.0)
    sin = tl.load(table_ptr + position * R + half + j, mask=i < R, other=0.0)
    turned = x.to(tl.float32) * cos + tl.where(i < half, -other, other) * sin
    tl.store(out_ptr + row * D + i, tl.where(i < R, turned.to(tl.bfloat16), x), mask=i < D)


def rope_half(q, k, positions, cos_sin):
    results = []
    for x in (q, k):
        T, H, D = x.shape
        out = torch.empty_like(x)
        rope_half_kernel[(T * H,)](x, positions, cos_sin, out, H, D, cos_sin.shape[1], BLOCK=triton.next_power_of_2(D))
        results.append(out)
    return tuple(results)
