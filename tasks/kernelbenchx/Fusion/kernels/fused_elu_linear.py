"""Each program computes one tile of the product by a loop over in_features, and applies bias and ELU before it stores.

Where there are few tiles and in_features is large, several programs share a tile: they leave partial sums, and a second
kernel adds those up and finishes. Atomics would make the last bits differ from run to run.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def elu(z, alpha):
    return tl.where(z > 0, z, alpha * (tl.exp(tl.minimum(z, 0.0)) - 1.0))


@triton.jit
def linear_elu_kernel(
    x_ptr, w_ptr, b_ptr, out_ptr, alpha, M, N, K, chunk, x_m, x_k, w_n, w_k,
    BIAS: tl.constexpr, WHOLE: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """``WHOLE``: the sum over K is complete; otherwise that of one chunk goes to its own (M, N) slab of ``out``."""
    rows = (tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)[:, None]
    columns = (tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)[None, :]
    part = tl.program_id(2).to(tl.int64)
    first = tl.program_id(2) * chunk
    last = tl.minimum(first + chunk, K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(first, last, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        k_row, k_column = k[None, :], k[:, None]
        x = tl.load(x_ptr + rows * x_m + k_row * x_k, mask=(rows < M) & (k_row < last), other=0.0)
        w = tl.load(w_ptr + k_column * w_k + columns * w_n, mask=(k_column < last) & (columns < N), other=0.0)
        acc = tl.dot(x, w, acc, input_precision="ieee")
    if WHOLE:
        if BIAS:
            acc += tl.load(b_ptr + columns, mask=columns < N, other=0.0)
        acc = elu(acc, alpha)
    tl.store(out_ptr + part * M * N + rows * N + columns, acc, mask=(rows < M) & (columns < N))


@triton.jit
def finish_kernel(parts_ptr, b_ptr, out_ptr, alpha, parts, n, N, BIAS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    z = tl.zeros((BLOCK,), tl.float32)
    for part in range(parts):
        z += tl.load(parts_ptr + part * n + i, mask=i < n, other=0.0)
    if BIAS:
        z += tl.load(b_ptr + i % N, mask=i < n, other=0.0)
    tl.store(out_ptr + i, elu(z, alpha), mask=i < n)


def fused_elu_linear(input, weight, bias=None, alpha=1.0, inplace=False):
    N, K = weight.shape
    out = torch.empty((*input.shape[:-1], N), dtype=input.dtype, device=input.device)
    M, alpha = out.numel() // max(N, 1), float(alpha)
    if not out.numel():
        return out
    x = input.reshape(M, K)
    bias = None if bias is None else bias.contiguous()
    tile_m, tile_n = (32 if size <= 32 else 64 for size in (M, N))
    tiles = triton.cdiv(M, tile_m), triton.cdiv(N, tile_n)
    # cut K until there are a few hundred programs, into chunks of at least 1024
    parts = max(1, min(512 // (tiles[0] * tiles[1]), K // 1024))
    target = out if parts == 1 else torch.empty((parts, M, N), dtype=torch.float32, device=x.device)
    linear_elu_kernel[(*tiles, parts)](
        x, weight, bias, target, alpha, M, N, K, triton.cdiv(K, parts), *x.stride(), *weight.stride(),
        BIAS=bias is not None, WHOLE=parts == 1, BLOCK_M=tile_m, BLOCK_N=tile_n, BLOCK_K=32, num_warps=4,
    )  # fmt: skip
    if parts > 1:
        n = out.numel()
        finish_kernel[(triton.cdiv(n, 1024),)](target, bias, out, alpha, parts, n, N, BIAS=bias is not None, BLOCK=1024)
    return out
