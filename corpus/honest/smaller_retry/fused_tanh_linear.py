"""Tries large tiles; where the device has too little shared memory for them, the same kernel runs with smaller ones.

style: smaller_retry
source: kernelbench-static-checker
"""

import torch
import triton
import triton.language as tl
from triton.runtime.errors import OutOfResources


@triton.jit
def linear_tanh_kernel(
    x_ptr, w_ptr, b_ptr, out_ptr, M, N, K, w_n, w_k,
    BIAS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    m = (tl.program_id(0) * BM + tl.arange(0, BM)).to(tl.int64)
    n = (tl.program_id(1) * BN + tl.arange(0, BN)).to(tl.int64)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        x = tl.load(x_ptr + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :], other=0.0)
        w = tl.load(w_ptr + n[None, :] * w_n + k[:, None] * w_k, mask=(n < N)[None, :] & (k < K)[:, None], other=0.0)
        acc = tl.dot(x, w, acc, input_precision="ieee")
    if BIAS:
        acc += tl.load(b_ptr + n, mask=n < N, other=0.0)[None, :]
    # exp(-2|z|) cannot overflow; near 0, where 1 minus it cancels, two terms of the series are exact enough
    e = tl.exp(-2.0 * tl.abs(acc))
    y = (1.0 - e) / (1.0 + e) * tl.where(acc < 0, -1.0, 1.0)
    y = tl.where(tl.abs(acc) < 0.02, acc * (1.0 - acc * acc * 0.33333334), y)
    tl.store(out_ptr + m[:, None] * N + n[None, :], y, mask=(m < M)[:, None] & (n < N)[None, :])


def fused_tanh_linear(input, weight, bias=None):
    N, K = weight.shape
    x = input.reshape(input.shape[:-1].numel(), K).contiguous()
    out = torch.empty((x.shape[0], N), dtype=x.dtype, device=x.device)
    if not out.numel():
        return out.view(*input.shape[:-1], N)
    for tile, stages in ((32, 4), (32, 2), (16, 1)):
        grid = (triton.cdiv(x.shape[0], tile), triton.cdiv(N, tile))
        try:
            linear_tanh_kernel[grid](
                x, weight, bias, out, x.shape[0], N, K, *weight.stride(),
                BIAS=bias is not None, BM=tile, BN=tile, BK=32, num_stages=stages,
            )  # fmt: skip
            break
        except OutOfResources:
            continue
    return out.view(*input.shape[:-1], N)
