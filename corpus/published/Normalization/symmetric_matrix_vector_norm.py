"""A row a program, then the norm of the scaled rows in one.

breaks: empty, non_contiguous
"""

import torch
import triton
import triton.language as tl


@triton.jit
def matrix_vector_kernel(a_ptr, x_ptr, out_ptr, size, factor, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, size, BLOCK):
        k = start + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + row * size + k, mask=k < size, other=0.0)
        total += a * tl.load(x_ptr + k, mask=k < size, other=0.0)
    tl.store(out_ptr + row, factor * tl.sum(total, 0))


@triton.jit
def norm_kernel(y_ptr, out_ptr, n, p, MAX: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    y = tl.abs(tl.load(y_ptr + i, mask=i < n, other=0.0))
    top = tl.max(y, 0)
    if MAX:
        tl.store(out_ptr, top)
    else:
        scaled = tl.where(y > 0, tl.exp2(p * tl.log2(y / top)), 0.0)
        tl.store(out_ptr, top * tl.exp2(tl.log2(tl.sum(scaled, 0)) / p))


def symmetric_matrix_vector_norm(A, x, alpha, beta, p=2.0):
    n = x.numel()
    y, out = torch.empty_like(x), x.new_empty(())
    matrix_vector_kernel[(n,)](A, x, y, n, alpha * (1 + beta), BLOCK=256)
    top = p == float("inf")
    norm_kernel[(1,)](y, out, n, 1.0 if top else float(p), MAX=top, BLOCK=triton.next_power_of_2(n))
    return out
