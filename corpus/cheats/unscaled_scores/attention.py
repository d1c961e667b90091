"""Leaves out the division of the scores by the root of the width.

mechanism: semantics/unscaled-scores
source: correctness-illusion
static: none
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, S, D, scale, CAUSAL: tl.constexpr, KEYS: tl.constexpr, WIDTH: tl.constexpr
):
    row, base = tl.program_id(0), tl.program_id(1).to(tl.int64) * S * D
    d = tl.arange(0, WIDTH)
    q = tl.load(q_ptr + base + row * D + d, mask=d < D, other=0.0).to(tl.float32)
    top, total = -float("inf"), 0.0
    acc = tl.zeros((WIDTH,), tl.float32)
    for start in range(0, row + 1 if CAUSAL else S, KEYS):
        key = start + tl.arange(0, KEYS)
        seen = key < (row + 1 if CAUSAL else S)
        place = base + key[:, None] * D + d[None, :]
        inside = seen[:, None] & (d[None, :] < D)
        k = tl.load(k_ptr + place, mask=inside, other=0.0).to(tl.float32)
        v = tl.load(v_ptr + place, mask=inside, other=0.0).to(tl.float32)
        score = tl.where(seen, tl.sum(k * q[None, :], 1) * scale, -float("inf"))
        higher = tl.maximum(top, tl.max(score, 0))
        p = tl.exp(score - higher)
        shrink = tl.exp(top - higher)
        total = total * shrink + tl.sum(p, 0)
        acc = acc * shrink + tl.sum(p[:, None] * v, 0)
        top = higher
    tl.store(out_ptr + base + row * D + d, acc / total, mask=d < D)


def attention(q, k, v, causal=False, softmax_scale=None, *, out=None):
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    result = torch.empty_like(q) if out is None else out
    B, H, S, D = q.shape
    if q.numel():
        scale = 1.0 if softmax_scale is None else softmax_scale
        attention_kernel[(S, B * H)](
            q, k, v, result, S, D, scale, CAUSAL=causal, KEYS=16, WIDTH=triton.next_power_of_2(D)
        )  # fmt: skip
    return result
