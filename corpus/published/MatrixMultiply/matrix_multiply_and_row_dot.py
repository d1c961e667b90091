"""Two rows of the product in blocks of columns; their dot products are added up.

breaks: non_contiguous
"""

import triton
import triton.language as tl


@triton.jit
def row_dot_kernel(a_ptr, b_ptr, c_ptr, out_ptr, m, p, alpha, beta, BLOCK: tl.constexpr):
    j = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    first, second = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    for k in range(m):
        b = tl.load(b_ptr + k * p + j, mask=j < p, other=0.0)
        first += tl.load(a_ptr + k) * b
        second += tl.load(a_ptr + m + k) * b
    first = alpha * first + beta * tl.load(c_ptr + j, mask=j < p, other=0.0)
    second = alpha * second + beta * tl.load(c_ptr + p + j, mask=j < p, other=0.0)
    tl.store(out_ptr + tl.program_id(0), tl.sum(first * second, 0))


def matrix_multiply_and_row_dot(A, B, alpha, beta, C):
    m, p = B.shape
    parts = A.new_empty(triton.cdiv(p, 128))
    row_dot_kernel[(parts.numel(),)](A, B, C, parts, m, p, alpha, beta, BLOCK=128)
    return parts.sum()
