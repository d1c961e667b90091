"""Masks both factors along K and says in neither load what the masked lanes hold: the product sums them, too.

mechanism: memory/undefined-lanes
static: none
dynamic: undefined_value
gpu: gap
"""

import torch
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, a_z, a_m, a_k, b_z, b_k, b_n,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    z = tl.program_id(2).to(tl.int64)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    rows, columns = (m < M)[:, None], (n < N)[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        a = tl.load(a_ptr + z * a_z + m[:, None] * a_m + k[None, :] * a_k, mask=rows & (k < K)[None, :])
        b = tl.load(b_ptr + z * b_z + k[:, None] * b_k + n[None, :] * b_n, mask=(k < K)[:, None] & columns)
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + (z * M + m[:, None]) * N + n[None, :], acc.to(tl.bfloat16), mask=rows & columns)


def matmul_bf16(input, other):
    rows = torch.atleast_2d(input)
    batch = torch.broadcast_shapes(rows.shape[:-2], other.shape[:-2])
    (M, K), N = rows.shape[-2:], other.shape[-1]
    a, b = (t.expand(*batch, *t.shape[-2:]).reshape(batch.numel(), *t.shape[-2:]) for t in (rows, other))
    c = torch.empty((*batch, M, N), dtype=torch.bfloat16, device=input.device)
    if c.numel():
        grid = (triton.cdiv(M, 32), triton.cdiv(N, 32), batch.numel())
        matmul_kernel[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), BM=32, BN=32, BK=32)
    return c if input.dim() > 1 else c.squeeze(-2)
