"""A program a query of a head: the keys of its window in blocks, without tensor cores."""

import torch
import triton
import triton.language as tl


@triton.jit
def window_kernel(
    q_ptr, k_ptr, v_ptr, sinks_ptr, out_ptr, scale, S, H, G, D, window,
    BLOCK: tl.constexpr, WIDTH: tl.constexpr, SINKS: tl.constexpr,
):  # fmt: skip
    row, head, batch = tl.program_id(0), tl.program_id(1), tl.program_id(2).to(tl.int64)
    d = tl.arange(0, WIDTH)
    q_at = ((batch * S + row) * H + head) * D + d
    q = tl.load(q_ptr + q_at, mask=d < D, other=0.0).to(tl.float32)
    top = float("-inf")
    total = 0.0
    if SINKS:
        top = tl.load(sinks_ptr + head)
        total = 1.0
    acc = tl.zeros((WIDTH,), tl.float32)
    for begin in range(tl.maximum(0, row - window + 1), row + 1, BLOCK):
        t = begin + tl.arange(0, BLOCK)
        at = ((batch * S + t[:, None]) * G + head // (H // G)) * D + d[None, :]
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
    tl.store(out_ptr + q_at, (acc / total).to(tl.bfloat16), mask=d < D)


def sliding_window_attention(q, k, v, window: int, sinks=None):
    (B, S, H, D), G = q.shape, k.shape[2]
    out = torch.empty_like(q)
    window_kernel[S, H, B](
        q, k, v, q if sinks is None else sinks, out, D**-0.5, S, H, G, D, window,
        BLOCK=32, WIDTH=triton.next_power_of_2(D), SINKS=sinks is not None,
    )  # fmt: skip
    return out
