"""A program a query of a head: keys in blocks, without tensor cores."""

import torch
import triton
import triton.language as tl


@triton.jit
def prefill_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, starts_ptr, scale, H, GROUP, D, key_stride, BLOCK: tl.constexpr, WIDTH: tl.constexpr
):
    start = tl.load(starts_ptr + tl.program_id(2)).to(tl.int64)
    length = tl.load(starts_ptr + tl.program_id(2) + 1) - start
    row, head = tl.program_id(0), tl.program_id(1)
    if row < length:
        d = tl.arange(0, WIDTH)
        q = tl.load(q_ptr + ((start + row) * H + head) * D + d, mask=d < D, other=0.0).to(tl.float32)
        top = float("-inf")
        total = 0.0
        acc = tl.zeros((WIDTH,), tl.float32)
        for begin in range(0, row + 1, BLOCK):
            t = begin + tl.arange(0, BLOCK)
            at = (start + t[:, None]) * key_stride + (head // GROUP) * D + d[None, :]
            mask = (t <= row)[:, None] & (d < D)[None, :]
            k = tl.load(k_ptr + at, mask=mask, other=0.0).to(tl.float32)
            scores = tl.where(t <= row, tl.sum(k * q[None, :], 1) * scale, float("-inf"))
            new = tl.maximum(top, tl.max(scores, 0))
            p = tl.exp(scores - new)
            fade = tl.exp(top - new)
            v = tl.load(v_ptr + at, mask=mask, other=0.0).to(tl.float32)
            total = total * fade + tl.sum(p, 0)
            acc = acc * fade + tl.sum(p[:, None] * v, 0)
            top = new
        tl.store(out_ptr + ((start + row) * H + head) * D + d, (acc / total).to(tl.bfloat16), mask=d < D)


def gqa_prefill(q, k, v, starts, longest: int):
    (_, H, D), G = q.shape, k.shape[1]
    out = torch.empty_like(q)
    prefill_kernel[longest, H, starts.shape[0] - 1](
        q, k, v, out, starts, D**-0.5, H, H // G, D, G * D, BLOCK=32, WIDTH=triton.next_power_of_2(D)
    )
    return out
