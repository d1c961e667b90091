"""Products of matrices and vectors: a program has some columns of one pair's gated product, or of one token's result."""

import torch
import triton
import triton.language as tl


@triton.jit
def gate_kernel(x_ptr, w_ptr, experts_ptr, inner_ptr, N, D, k, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    pair = tl.program_id(0).to(tl.int64)
    expert = tl.load(experts_ptr + pair).to(tl.int64)
    i = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    gate = tl.zeros((ROWS,), tl.float32)
    up = tl.zeros((ROWS,), tl.float32)
    for begin in range(0, D, BLOCK):
        d = begin + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + (pair // k) * D + d, mask=d < D, other=0.0).to(tl.float32)
        gate_at = w_ptr + (expert * 2 * N + i[:, None]) * D + d[None, :]
        up_at = w_ptr + (expert * 2 * N + N + i[:, None]) * D + d[None, :]
        mask = (i < N)[:, None] & (d < D)[None, :]
        gate += tl.sum(tl.load(gate_at, mask=mask, other=0.0).to(tl.float32) * x[None, :], 1)
        up += tl.sum(tl.load(up_at, mask=mask, other=0.0).to(tl.float32) * x[None, :], 1)
    result = gate / (1.0 + tl.exp(-gate)) * up
    tl.store(inner_ptr + pair * N + i, result.to(tl.bfloat16), mask=i < N)


@triton.jit
def down_kernel(inner_ptr, w_ptr, experts_ptr, weights_ptr, out_ptr, N, D, k, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    d = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros((ROWS,), tl.float32)
    for pair in range(token * k, token * k + k):
        expert = tl.load(experts_ptr + pair).to(tl.int64)
        each = tl.zeros((ROWS,), tl.float32)
        for begin in range(0, N, BLOCK):
            i = begin + tl.arange(0, BLOCK)
            x = tl.load(inner_ptr + pair * N + i, mask=i < N, other=0.0).to(tl.float32)
            at = w_ptr + (expert * D + d[:, None]) * N + i[None, :]
            w = tl.load(at, mask=(d < D)[:, None] & (i < N)[None, :], other=0.0).to(tl.float32)
            each += tl.sum(w * x[None, :], 1)
        total += each * tl.load(weights_ptr + pair)
    tl.store(out_ptr + token * D + d, total.to(tl.bfloat16), mask=d < D)


def fused_moe(x, w13, w2, weights, experts):
    (T, D), N, k = x.shape, w2.shape[2], experts.shape[1]
    inner = torch.empty((T * k, N), dtype=x.dtype, device=x.device)
    out = torch.empty_like(x)
    gate_kernel[T * k, triton.cdiv(N, 64)](x, w13, experts, inner, N, D, k, ROWS=64, BLOCK=64)
    down_kernel[T, triton.cdiv(D, 64)](inner, w2, experts, weights, out, N, D, k, ROWS=64, BLOCK=64)
    return out
