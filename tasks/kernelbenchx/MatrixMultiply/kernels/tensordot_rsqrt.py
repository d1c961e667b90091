"""Contraction as one matrix product whose tiles are finished with the reciprocal square root before they are stored.

The paired dimensions are moved to the middle; permuting and reshaping copy only where no strides describe the matrix.
"""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def product_rsqrt_kernel(
    a_ptr, b_ptr, out_ptr, M, N, K, a_m, a_k, b_k, b_n,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    rows = (tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)[:, None]
    columns = (tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K).to(tl.int64)
        a = tl.load(a_ptr + rows * a_m + k[None, :] * a_k, mask=(rows < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * b_k + columns * b_n, mask=(k[:, None] < K) & (columns < N), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    tl.store(out_ptr + rows * N + columns, tl.rsqrt(acc), mask=(rows < M) & (columns < N))


def tensordot_rsqrt(a: torch.Tensor, b: torch.Tensor, dims) -> torch.Tensor:
    pairs = (range(-dims, 0), range(dims)) if isinstance(dims, int) else dims
    left, right = ([d % t.dim() for d in ds] for ds, t in zip(pairs, (a, b), strict=True))
    free_a, free_b = ([d for d in range(t.dim()) if d not in ds] for t, ds in ((a, left), (b, right)))
    shape_m, shape_n = [a.shape[d] for d in free_a], [b.shape[d] for d in free_b]
    M, N, K = math.prod(shape_m), math.prod(shape_n), math.prod(a.shape[d] for d in left)
    x = a.permute(*free_a, *left).reshape(M, K)
    y = b.permute(*right, *free_b).reshape(K, N)
    result = torch.empty((*shape_m, *shape_n), dtype=a.dtype, device=a.device)
    if result.numel():
        tile_m, tile_n = (16 if size <= 16 else 64 for size in (M, N))
        product_rsqrt_kernel[(triton.cdiv(M, tile_m), triton.cdiv(N, tile_n))](
            x, y, result, M, N, K, *x.stride(), *y.stride(), BLOCK_M=tile_m, BLOCK_N=tile_n, BLOCK_K=32
        )
    return result
