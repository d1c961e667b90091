"""A program has 16 columns of a head's state and goes through time step by step, all in float32."""

import torch
import triton
import triton.language as tl


@triton.jit
def steps_kernel(
    q_ptr, k_ptr, v_ptr, g_ptr, beta_ptr, state_ptr, out_ptr, after_ptr, T, scale,
    K: tl.constexpr, V: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    head, d = tl.program_id(1).to(tl.int64), tl.arange(0, K)
    columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = head * K * V + d[:, None] * V + columns[None, :]
    s = tl.load(state_ptr + at).to(tl.float32)
    for t in range(T):
        step = head * T + t
        q = tl.load(q_ptr + step * K + d).to(tl.float32) * scale
        k = tl.load(k_ptr + step * K + d).to(tl.float32)
        v = tl.load(v_ptr + step * V + columns).to(tl.float32)
        s *= tl.exp(tl.load(g_ptr + step))
        update = tl.load(beta_ptr + step) * (v - tl.sum(s * k[:, None], 0))
        s += k[:, None] * update[None, :]
        tl.store(out_ptr + step * V + columns, tl.sum(s * q[:, None], 0).to(tl.bfloat16))
    tl.store(after_ptr + at, s.to(tl.bfloat16))


def gated_delta_rule(q, k, v, g, beta, state):
    B, H, T, K = q.shape
    V = v.shape[-1]
    out, after = torch.empty_like(v), torch.empty_like(state)
    grid = (V // 16, B * H)
    steps_kernel[grid](q, k, v, g, beta, state, out, after, T, K**-0.5, K=K, V=V, BLOCK=16)
    return out, after
