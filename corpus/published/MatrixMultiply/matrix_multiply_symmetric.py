"""The same product-and-sum twice, the second with the transpose.

breaks: non_contiguous
"""

import torch
import triton
import triton.language as tl


@triton.jit
def matrix_multiply_symmetric_kernel(
    a_ptr, b_ptr, c_ptr, out_ptr, m, n, size, alpha, beta, TRANSPOSED: tl.constexpr, BLOCK: tl.constexpr
):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, size, BLOCK):
        k = start + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + i[:, None] * size + k[None, :], mask=(i[:, None] < m) & (k[None, :] < size), other=0.0)
        b = tl.load(
            b_ptr + (j[None, :] * size + k[:, None] if TRANSPOSED else k[:, None] * n + j[None, :]),
            mask=(k[:, None] < size) & (j[None, :] < n),
            other=0.0,
        )
        acc = tl.dot(a, b, acc, input_precision="ieee")
    inside = (i[:, None] < m) & (j[None, :] < n)
    place = i[:, None] * n + j[None, :]
    acc = alpha * acc + beta * tl.load(c_ptr + place, mask=inside)
    tl.store(out_ptr + place, acc, mask=inside)


def matrix_multiply_symmetric(A, B, C, alpha, beta):
    n, m = A.shape
    rows, out = torch.empty_like(C), torch.empty_like(C)
    grid = triton.cdiv(n, 32), triton.cdiv(n, 32)
    matrix_multiply_symmetric_kernel[grid](A, B, C, rows, n, n, m, alpha, beta, TRANSPOSED=False, BLOCK=32)
    matrix_multiply_symmetric_kernel[grid](rows, rows, rows, out, n, n, n, alpha, beta, TRANSPOSED=True, BLOCK=32)
    return out
