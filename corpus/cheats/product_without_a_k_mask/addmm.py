"""Masks one factor of a product along K and not the other, because zero times anything is zero.

mechanism: memory/unmasked-k
static: none
dynamic: out_of_bounds
"""

import torch
import triton
import triton.language as tl


@triton.jit
def addmm_kernel(
    x_ptr, a_ptr, b_ptr, c_ptr, alpha, beta, M, N, K, x_m, x_n, a_m, a_k, b_k, b_n,
    BETA: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    m = (tl.program_id(0) * BM + tl.arange(0, BM)).to(tl.int64)
    n = (tl.program_id(1) * BN + tl.arange(0, BN)).to(tl.int64)
    rows, columns = (m < M)[:, None], (n < N)[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        a = tl.load(a_ptr + m[:, None] * a_m + k[None, :] * a_k, mask=rows & (k < K)[None, :], other=0.0)
        b = tl.load(b_ptr + k[:, None] * b_k + n[None, :] * b_n, mask=columns, other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    acc *= alpha
    if BETA:
        acc += beta * tl.load(x_ptr + m[:, None] * x_m + n[None, :] * x_n, mask=rows & columns, other=0.0)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc, mask=rows & columns)


def addmm(input, mat1, mat2, beta=1, alpha=1, out=None):
    (M, K), N = mat1.shape, mat2.shape[1]
    c = torch.empty((M, N), dtype=torch.float32, device=mat1.device) if out is None else out
    if c.numel():
        x = input.expand(M, N)
        addmm_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](
            x, mat1, mat2, c, float(alpha), float(beta), M, N, K, *x.stride(), *mat1.stride(), *mat2.stride(),
            BETA=beta != 0, BM=32, BN=32, BK=32,
        )  # fmt: skip
    return c
