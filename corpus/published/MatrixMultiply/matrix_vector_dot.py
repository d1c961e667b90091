"""A row a program; the dot product is one program's second step.

breaks: empty, non_contiguous
"""

import triton
import triton.language as tl


@triton.jit
def matrix_vector_kernel(a_ptr, x_ptr, out_ptr, size, alpha, beta, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, size, BLOCK):
        k = start + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + row * size + k, mask=k < size, other=0.0)
        total += a * tl.load(x_ptr + k, mask=k < size, other=0.0)
    y = alpha * tl.sum(total, 0) + beta * tl.load(out_ptr + row)
    tl.store(out_ptr + row, y)


@triton.jit
def dot_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr, tl.sum(x * tl.load(y_ptr + i, mask=i < n, other=0.0), 0))


def matrix_vector_dot(A, x, y, alpha, beta):
    n = x.numel()
    out = x.new_empty(())
    matrix_vector_kernel[(n,)](A, x, y, n, alpha, beta, BLOCK=256)
    dot_kernel[(1,)](x, y, out, n, BLOCK=triton.next_power_of_2(n))
    return out
