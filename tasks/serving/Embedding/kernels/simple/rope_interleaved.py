"""A program a head of a token; each element reads its partner."""

import torch
import triton
import triton.language as tl


@triton.jit
def rope_interleaved_kernel(x_ptr, positions_ptr, table_ptr, out_ptr, H, D, R, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    position = tl.load(positions_ptr + row // H)
    i = tl.arange(0, BLOCK)
    z = i - (D - R)
    turned = (z >= 0) & (i < D)
    odd = z % 2 != 0
    x = tl.load(x_ptr + row * D + i, mask=i < D, other=0.0)
    other = tl.load(x_ptr + row * D + tl.where(odd, i - 1, i + 1), mask=turned, other=0.0).to(tl.float32)
    cos = tl.load(table_ptr + position * R + z // 2, mask=turned, other=1.0)
    sin = tl.load(table_ptr + position * R + R // 2 + z // 2, mask=turned, other=0.0)
    result = x.to(tl.float32) * cos + tl.where(odd, other, -other) * sin
    tl.store(out_ptr + row * D + i, tl.where(turned, result.to(tl.bfloat16), x), mask=i < D)


def rope_interleaved(q, k, positions, cos_sin):
    results = []
    for x in (q, k):
        T, H, D = x.shape
        out = torch.empty_like(x)
        rope_interleaved_kernel[(T * H,)](
            x, positions, cos_sin, out, H, D, cos_sin.shape[1], BLOCK=triton.next_power_of_2(D)
        )
        results.append(out)
    return tuple(results)
