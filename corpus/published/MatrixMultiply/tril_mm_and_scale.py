"""Lower triangle times a matrix, scaled.

breaks: non_contiguous
"""

import torch
import triton
import triton.language as tl


@triton.jit
def tril_mm_and_scale_kernel(a_ptr, b_ptr, out_ptr, m, n, size, alpha, beta, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, size, BLOCK):
        k = start + tl.arange(0, BLOCK)
        a = tl.load(
            a_ptr + i[:, None] * size + k[None, :],
            mask=(i[:, None] < m) & (k[None, :] < size) & (k[None, :] <= i[:, None]),
            other=0.0,
        )
        b = tl.load(b_ptr + k[:, None] * n + j[None, :], mask=(k[:, None] < size) & (j[None, :] < n), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    inside = (i[:, None] < m) & (j[None, :] < n)
    place = i[:, None] * n + j[None, :]
    acc = beta * (alpha * acc)
    tl.store(out_ptr + place, acc, mask=inside)


def tril_mm_and_scale(A, B, alpha, beta):
    n, p = B.shape
    out = torch.empty_like(B)
    grid = triton.cdiv(n, 32), triton.cdiv(p, 32)
    tril_mm_and_scale_kernel[grid](A, B, out, n, p, n, alpha, beta, BLOCK=32)
    return out
