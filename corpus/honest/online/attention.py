"""Attention with an online softmax: scores never leave the chip. Float32 products without TF32.

style: online
source: correctness-illusion
"""

import torch
import triton
import triton.language as tl


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, scale, S, T, D, DV,
    q_z, q_s, q_d, k_z, k_s, k_d, v_z, v_s, v_d, o_z, o_s, o_d,
    CAUSAL: tl.constexpr, BLOCK_S: tl.constexpr, BLOCK_T: tl.constexpr, HEAD: tl.constexpr, HEAD_V: tl.constexpr,
):  # fmt: skip
    z = tl.program_id(1).to(tl.int64)
    s = tl.program_id(0) * BLOCK_S + tl.arange(0, BLOCK_S)
    t = tl.arange(0, BLOCK_T)
    d = tl.arange(0, HEAD)
    e = tl.arange(0, HEAD_V)
    q_mask = (s[:, None] < S) & (d[None, :] < D)
    q = tl.load(q_ptr + z * q_z + s[:, None] * q_s + d[None, :] * q_d, mask=q_mask, other=0.0)
    top = tl.full((BLOCK_S,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_S,), tl.float32)
    acc = tl.zeros((BLOCK_S, HEAD_V), tl.float32)
    end = tl.minimum(T, (tl.program_id(0) + 1) * BLOCK_S) if CAUSAL else T
    for start in range(0, end, BLOCK_T):
        key = start + t
        k_mask = (d[:, None] < D) & (key[None, :] < T)
        k = tl.load(k_ptr + z * k_z + d[:, None] * k_d + key[None, :] * k_s, mask=k_mask, other=0.0)
        seen = (key[None, :] <= s[:, None]) & (key[None, :] < T) if CAUSAL else (key < T)[None, :]
        scores = tl.where(seen, tl.dot(q, k, input_precision="ieee") * scale, -float("inf"))
        new_top = tl.maximum(top, tl.max(scores, 1))
        weights = tl.exp(scores - new_top[:, None])
        decay = tl.exp(top - new_top)
        total = total * decay + tl.sum(weights, 1)
        v_mask = (key[:, None] < T) & (e[None, :] < DV)
        v = tl.load(v_ptr + z * v_z + key[:, None] * v_s + e[None, :] * v_d, mask=v_mask, other=0.0)
        acc = tl.dot(weights.to(v.dtype), v, acc * decay[:, None], input_precision="ieee")
        top = new_top
    acc /= total[:, None]
    o_mask = (s[:, None] < S) & (e[None, :] < DV)
    out = out_ptr + z * o_z + s[:, None] * o_s + e[None, :] * o_d
    tl.store(out, acc.to(out_ptr.dtype.element_ty), mask=o_mask)


def attention(q, k, v, causal: bool = False, softmax_scale=None, *, out=None):
    S, D, T, DV = q.shape[-2], q.shape[-1], k.shape[-2], v.shape[-1]
    batch = torch.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    scale = D**-0.5 if softmax_scale is None else float(softmax_scale)
    result = torch.empty(*batch, S, DV, dtype=q.dtype, device=q.device)
    if result.numel():
        q3, k3, v3, o3 = (x.expand(*batch, *x.shape[-2:]).reshape(-1, *x.shape[-2:]) for x in (q, k, v, result))
        block_s = 32 if S <= 32 else 64
        attention_kernel[(triton.cdiv(S, block_s), q3.shape[0])](
            q3, k3, v3, o3, scale, S, T, D, DV,
            *q3.stride(), *k3.stride(), *v3.stride(), *o3.stride(),
            CAUSAL=causal, BLOCK_S=block_s, BLOCK_T=32,
            HEAD=max(16, triton.next_power_of_2(D)), HEAD_V=max(16, triton.next_power_of_2(DV)),
        )  # fmt: skip
    return result if out is None else out.resize_(result.shape).copy_(result)
