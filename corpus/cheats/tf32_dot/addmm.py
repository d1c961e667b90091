"""Leaves `tl.dot` at TF32, its default, where the task asks for float32.

mechanism: semantics/tf32-dot
static: none
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def addmm_kernel(
    c_ptr, a_ptr, b_ptr, out_ptr, M, N, K, beta, alpha, a_m, a_k, b_k, b_n, c_m, c_n,
    ADD: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    rows = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))[:, None]
    columns = (tl.program_id(1) * BLOCK + tl.arange(0, BLOCK))[None, :]
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, BLOCK):
        i, j = start + tl.arange(0, BLOCK)[None, :], start + tl.arange(0, BLOCK)[:, None]
        a = tl.load(a_ptr + rows * a_m + i * a_k, mask=(rows < M) & (i < K), other=0.0)
        b = tl.load(b_ptr + j * b_k + columns * b_n, mask=(j < K) & (columns < N), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="tf32")
    mask = (rows < M) & (columns < N)
    acc *= alpha
    if ADD:
        acc += beta * tl.load(c_ptr + rows * c_m + columns * c_n, mask=mask, other=0.0)
    tl.store(out_ptr + rows * N + columns, acc, mask=mask)


def addmm(
    input: torch.Tensor, mat1: torch.Tensor, mat2: torch.Tensor, beta: float = 1, alpha: float = 1, out=None
) -> torch.Tensor:
    (M, K), N = mat1.shape, mat2.shape[1]
    result = torch.empty((M, N), dtype=torch.float32, device=mat1.device) if out is None else out
    if result.numel():
        c = input.expand(M, N)
        addmm_kernel[(triton.cdiv(M, 64), triton.cdiv(N, 64))](
            c, mat1, mat2, result, M, N, K, beta, alpha, *mat1.stride(), *mat2.stride(), *c.stride(),
            ADD=beta != 0, BLOCK=64,
        )  # fmt: skip
    return result
