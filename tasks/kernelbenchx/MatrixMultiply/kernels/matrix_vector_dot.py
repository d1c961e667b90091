"""Each program takes a block of rows: updates their part of y, and makes what these rows add to the dot product.

A second launch of one program adds up the partial sums, always in the same order.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def rows_kernel(
    a_ptr, x_ptr, y_ptr, partial_ptr, alpha, beta, n, a_m, a_k, x_stride, y_stride,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    inside = rows < n
    acc = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, n, BLOCK):
        k = start + tl.arange(0, BLOCK).to(tl.int64)
        a = tl.load(a_ptr + rows[:, None] * a_m + k[None, :] * a_k, mask=inside[:, None] & (k < n)[None, :], other=0.0)
        acc += a * tl.load(x_ptr + k * x_stride, mask=k < n, other=0.0)[None, :]
    y = tl.load(y_ptr + rows * y_stride, mask=inside, other=0.0)
    v = alpha * tl.sum(acc, 1) + beta * y
    tl.store(y_ptr + rows * y_stride, v, mask=inside)
    x = tl.load(x_ptr + rows * x_stride, mask=inside, other=0.0)
    tl.store(partial_ptr + tl.program_id(0), tl.sum(v * x))


@triton.jit
def sum_kernel(partial_ptr, out_ptr, n, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        acc += tl.load(partial_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr, tl.sum(acc))


def matrix_vector_dot(A: Tensor, x: Tensor, y: Tensor, alpha: float, beta: float) -> Tensor:
    n = A.shape[0]
    result = torch.empty((), dtype=A.dtype, device=A.device)
    programs = triton.cdiv(n, 16)
    partial = torch.empty(programs, dtype=A.dtype, device=A.device)
    if n:
        rows_kernel[(programs,)](
            A, x, y, partial, float(alpha), float(beta), n, *A.stride(), x.stride(0), y.stride(0), ROWS=16, BLOCK=256
        )
    sum_kernel[(1,)](partial, result, programs, BLOCK=1024)
    return result
