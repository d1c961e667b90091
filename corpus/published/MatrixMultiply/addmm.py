"""Product of matrices plus a matrix of its shape.

breaks: broadcast, non_contiguous, out_argument, rank:1
"""

import triton
import triton.language as tl


@triton.jit
def addmm_kernel(a_ptr, b_ptr, c_ptr, out_ptr, m, n, size, alpha, beta, BETA: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, size, BLOCK):
        k = start + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + i[:, None] * size + k[None, :], mask=(i[:, None] < m) & (k[None, :] < size), other=0.0)
        b = tl.load(b_ptr + k[:, None] * n + j[None, :], mask=(k[:, None] < size) & (j[None, :] < n), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    inside = (i[:, None] < m) & (j[None, :] < n)
    place = i[:, None] * n + j[None, :]
    acc = alpha * acc
    if BETA:
        acc += beta * tl.load(c_ptr + place, mask=inside)
    tl.store(out_ptr + place, acc, mask=inside)


def addmm(input, mat1, mat2, beta=1, alpha=1, out=None):
    (m, size), n = mat1.shape, mat2.shape[1]
    result = mat1.new_empty(m, n)
    grid = triton.cdiv(m, 32), triton.cdiv(n, 32)
    addmm_kernel[grid](mat1, mat2, input, result, m, n, size, alpha, beta, BETA=beta != 0, BLOCK=32)
    return result
