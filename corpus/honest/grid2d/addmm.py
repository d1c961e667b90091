"""A two-dimensional grid and strides for every matrix; float32 products without TF32.

style: grid2d
"""

import torch
import triton
import triton.language as tl


@triton.jit
def addmm_kernel(
    bias_ptr, a_ptr, b_ptr, out_ptr, beta, alpha, M, N, K,
    bias_m, bias_n, a_m, a_k, b_k, b_n, out_m, out_n,
    WITH_BIAS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    rows = (tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)[:, None]
    columns = (tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + rows * a_m + k[None, :] * a_k, mask=(rows < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * b_k + columns * b_n, mask=(k[:, None] < K) & (columns < N), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    acc *= alpha
    mask = (rows < M) & (columns < N)
    if WITH_BIAS:
        acc += beta * tl.load(bias_ptr + rows * bias_m + columns * bias_n, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + rows * out_m + columns * out_n, acc, mask=mask)


def addmm(
    input: torch.Tensor,
    mat1: torch.Tensor,
    mat2: torch.Tensor,
    beta: float = 1,
    alpha: float = 1,
    out: torch.Tensor = None,
) -> torch.Tensor:
    (M, K), N = mat1.shape, mat2.shape[1]
    bias = input.expand(M, N)
    result = torch.empty((M, N), dtype=mat1.dtype, device=mat1.device)
    if result.numel():
        tile_m, tile_n = (32 if size <= 32 else 64 for size in (M, N))
        addmm_kernel[(triton.cdiv(M, tile_m), triton.cdiv(N, tile_n))](
            bias, mat1, mat2, result, float(beta), float(alpha), M, N, K,
            *bias.stride(), *mat1.stride(), *mat2.stride(), *result.stride(),
            # beta = 0 means that the values of input, NaN included, do not matter
            WITH_BIAS=beta != 0, BLOCK_M=tile_m, BLOCK_N=tile_n, BLOCK_K=32,
        )  # fmt: skip
    return result if out is None else out.resize_(result.shape).copy_(result)
