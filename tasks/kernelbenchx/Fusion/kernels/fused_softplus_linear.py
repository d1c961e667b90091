"""Each program computes one tile of the product by a loop over in_features, then bias and softplus before it stores.

A single row of input would leave a matrix unit idle, so vectors have a kernel of their own: a program takes a few rows
of the weight and multiplies and adds, which runs at the speed of memory.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def softplus(z, beta, threshold):
    v = beta * z
    # log(1 + exp(v)), with an exponential that cannot overflow
    soft = (tl.maximum(v, 0.0) + tl.log(1.0 + tl.exp(-tl.abs(v)))) / beta
    return tl.where(z > threshold, z, soft)


@triton.jit
def matrix_kernel(
    x_ptr, w_ptr, b_ptr, out_ptr, beta, threshold, M, N, K, x_m, x_k, w_n, w_k,
    BIAS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    rows = (tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)[:, None]
    columns = (tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        k_row, k_column = k[None, :], k[:, None]
        x = tl.load(x_ptr + rows * x_m + k_row * x_k, mask=(rows < M) & (k_row < K), other=0.0)
        w = tl.load(w_ptr + k_column * w_k + columns * w_n, mask=(k_column < K) & (columns < N), other=0.0)
        acc = tl.dot(x, w, acc, input_precision="ieee")
    if BIAS:
        acc += tl.load(b_ptr + columns, mask=columns < N, other=0.0)
    y = softplus(acc, beta, threshold)
    tl.store(out_ptr + rows * N + columns, y, mask=(rows < M) & (columns < N))


@triton.jit
def vector_kernel(
    x_ptr, w_ptr, b_ptr, out_ptr, beta, threshold, N, K, x_k, w_n, w_k,
    BIAS: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    n = (tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)
    acc = tl.zeros((BLOCK_N, BLOCK_K), tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        x = tl.load(x_ptr + k * x_k, mask=k < K, other=0.0)
        w_mask = (n[:, None] < N) & (k[None, :] < K)
        acc += x[None, :] * tl.load(w_ptr + n[:, None] * w_n + k[None, :] * w_k, mask=w_mask, other=0.0)
    z = tl.sum(acc, 1)
    if BIAS:
        z += tl.load(b_ptr + n, mask=n < N, other=0.0)
    tl.store(out_ptr + n, softplus(z, beta, threshold), mask=n < N)


def fused_softplus_linear(input, weight, bias=None, beta=1, threshold=20):
    N, K = weight.shape
    out = torch.empty((*input.shape[:-1], N), dtype=input.dtype, device=input.device)
    M = out.numel() // max(N, 1)
    if not out.numel():
        return out
    x = input.reshape(M, K)
    bias = None if bias is None else bias.contiguous()
    options = float(beta), float(threshold)
    if M == 1:
        tile = 4 if N > 1024 else 16
        vector_kernel[(triton.cdiv(N, tile),)](
            x, weight, bias, out, *options, N, K, x.stride(1), *weight.stride(),
            BIAS=bias is not None, BLOCK_N=tile, BLOCK_K=512,
        )  # fmt: skip
        return out
    tile_m, tile_n = (32 if size <= 32 else 64 for size in (M, N))
    matrix_kernel[(triton.cdiv(M, tile_m), triton.cdiv(N, tile_n))](
        x, weight, bias, out, *options, M, N, K, *x.stride(), *weight.stride(),
        BIAS=bias is not None, BLOCK_M=tile_m, BLOCK_N=tile_n, BLOCK_K=32,
    )  # fmt: skip
    return out
