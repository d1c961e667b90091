"""Lower triangle times a matrix: a tile of rows stops at its last diagonal element, so half of the work is never done.

Tiles at the bottom have the longest sums and are started first. What lies above the diagonal is masked when it is
loaded.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def tril_mm_kernel(
    a_ptr, b_ptr, out_ptr, alpha, beta, M, N, a_m, a_k, b_k, b_n,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    first = (tl.num_programs(1) - 1 - tl.program_id(1)) * BLOCK_M
    rows = (first + tl.arange(0, BLOCK_M)).to(tl.int64)[:, None]
    columns = (tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)[None, :]
    end = tl.minimum(first + BLOCK_M, M)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, end, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K).to(tl.int64)
        a = tl.load(a_ptr + rows * a_m + k[None, :] * a_k, mask=(rows < M) & (k[None, :] <= rows), other=0.0)
        b = tl.load(b_ptr + k[:, None] * b_k + columns * b_n, mask=(k[:, None] < end) & (columns < N), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    tl.store(out_ptr + rows * N + columns, beta * (alpha * acc), mask=(rows < M) & (columns < N))


def tril_mm_and_scale(A: torch.Tensor, B: torch.Tensor, alpha: float, beta: float) -> torch.Tensor:
    M, N = B.shape
    result = torch.empty((M, N), dtype=A.dtype, device=A.device)
    if result.numel():
        tile_m, tile_n = (16 if size <= 16 else 64 for size in (M, N))
        tril_mm_kernel[(triton.cdiv(N, tile_n), triton.cdiv(M, tile_m))](
            A, B, result, float(alpha), float(beta), M, N, *A.stride(), *B.stride(),
            BLOCK_M=tile_m, BLOCK_N=tile_n, BLOCK_K=32,
        )  # fmt: skip
    return result
