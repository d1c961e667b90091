"""Two kernels: the first makes `U` and `W` of all chunks at once, with a triangular matrix inverted in registers, row by row; the second goes
from chunk to chunk with a part of the state's columns in registers. All products are of bfloat16 on tensor cores."""

import torch
import triton
import triton.language as tl

WARPS = 2
"""Triton 3.6 compiles products of few columns that four warps make together so that they read beyond shared memory."""


@triton.jit
def chunks_kernel(
    k_ptr, v_ptr, g_ptr, beta_ptr, u_ptr, w_ptr, T, K: tl.constexpr, V: tl.constexpr, CHUNK: tl.constexpr
):
    i, head = tl.arange(0, CHUNK), tl.program_id(1).to(tl.int64)
    t = tl.program_id(0) * CHUNK + i
    inside = t < T
    total = tl.cumsum(tl.load(g_ptr + head * T + t, mask=inside, other=0.0), 0)
    beta = tl.load(beta_ptr + head * T + t, mask=inside, other=0.0)
    at_k = (head * T + t)[:, None] * K + tl.arange(0, K)[None, :]
    at_v = (head * T + t)[:, None] * V + tl.arange(0, V)[None, :]
    k = tl.load(k_ptr + at_k, mask=inside[:, None], other=0.0)
    v = tl.load(v_ptr + at_v, mask=inside[:, None], other=0.0)
    below = i[:, None] > i[None, :]
    decay = tl.exp(tl.where(below, total[:, None] - total[None, :], 0.0))
    inverse = tl.where(below, -tl.dot(k, tl.trans(k)) * decay * beta[:, None], 0.0)
    for row in range(1, CHUNK):
        # What this row's elements give by way of the rows above, which are done.
        elements = tl.sum(tl.where((i == row)[:, None], inverse, 0.0), 0)
        elements += tl.sum(elements[:, None] * inverse, 0)
        inverse = tl.where((i == row)[:, None], elements[None, :], inverse)
    inverse += tl.where(i[:, None] == i[None, :], 1.0, 0.0)
    m = inverse.to(tl.bfloat16)
    u = tl.dot(m, (v.to(tl.float32) * beta[:, None]).to(tl.bfloat16))
    w = tl.dot(m, (k.to(tl.float32) * (beta * tl.exp(total))[:, None]).to(tl.bfloat16))
    tl.store(u_ptr + at_v, u.to(tl.bfloat16), mask=inside[:, None])
    tl.store(w_ptr + at_k, w.to(tl.bfloat16), mask=inside[:, None])


@triton.jit
def states_kernel(
    q_ptr, k_ptr, g_ptr, u_ptr, w_ptr, state_ptr, out_ptr, after_ptr, T, scale,
    K: tl.constexpr, V: tl.constexpr, BLOCK_V: tl.constexpr, CHUNK: tl.constexpr,
):  # fmt: skip
    i, head = tl.arange(0, CHUNK), tl.program_id(1).to(tl.int64)
    d, columns = tl.arange(0, K), tl.program_id(0) * BLOCK_V + tl.arange(0, BLOCK_V)
    at_s = head * K * V + d[:, None] * V + columns[None, :]
    s = tl.load(state_ptr + at_s).to(tl.float32)
    for start in range(0, T, CHUNK):
        t = start + i
        inside = t < T
        at_k = (head * T + t)[:, None] * K + d[None, :]
        at_v = (head * T + t)[:, None] * V + columns[None, :]
        total = tl.cumsum(tl.load(g_ptr + head * T + t, mask=inside, other=0.0), 0)
        last = tl.sum(tl.where(i == CHUNK - 1, total, 0.0), 0)
        q = tl.load(q_ptr + at_k, mask=inside[:, None], other=0.0)
        k = tl.load(k_ptr + at_k, mask=inside[:, None], other=0.0)
        w = tl.load(w_ptr + at_k, mask=inside[:, None], other=0.0)
        u = tl.load(u_ptr + at_v, mask=inside[:, None], other=0.0).to(tl.float32)
        rounded = s.to(tl.bfloat16)
        new = (u - tl.dot(w, rounded)).to(tl.bfloat16)
        shown = i[:, None] >= i[None, :]
        decay = tl.exp(tl.where(shown, total[:, None] - total[None, :], 0.0))
        scores = tl.where(shown, tl.dot(q, tl.trans(k)) * decay * scale, 0.0)
        out = tl.dot((q.to(tl.float32) * (tl.exp(total) * scale)[:, None]).to(tl.bfloat16), rounded)
        out = tl.dot(scores.to(tl.bfloat16), new, out)
        tl.store(out_ptr + at_v, out.to(tl.bfloat16), mask=inside[:, None])
        k = (k.to(tl.float32) * tl.exp(last - total)[:, None]).to(tl.bfloat16)
        s = s * tl.exp(last) + tl.dot(tl.trans(k), new)
    tl.store(after_ptr + at_s, s.to(tl.bfloat16))


def gated_delta_rule(q, k, v, g, beta, state):
    B, H, T, K = q.shape
    V = v.shape[-1]
    u, w, out, after = torch.empty_like(v), torch.empty_like(k), torch.empty_like(v), torch.empty_like(state)
    chunks_kernel[(triton.cdiv(T, 64), B * H)](k, v, g, beta, u, w, T, K=K, V=V, CHUNK=64, num_warps=WARPS)
    block = min(V, 32)
    states_kernel[(V // block, B * H)](
        q, k, g, u, w, state, out, after, T, K**-0.5, K=K, V=V, BLOCK_V=block, CHUNK=64, num_warps=WARPS, num_stages=2
    )
    return out, after
