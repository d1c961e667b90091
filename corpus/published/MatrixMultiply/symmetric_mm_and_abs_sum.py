"""Tiles of the product with the transpose; each leaves the sum of its magnitudes.

breaks: non_contiguous
"""

import triton
import triton.language as tl


@triton.jit
def symmetric_mm_and_abs_sum_kernel(a_ptr, b_ptr, c_ptr, out_ptr, m, n, size, alpha, beta, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, size, BLOCK):
        k = start + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + i[:, None] * size + k[None, :], mask=(i[:, None] < m) & (k[None, :] < size), other=0.0)
        b = tl.load(b_ptr + j[None, :] * size + k[:, None], mask=(k[:, None] < size) & (j[None, :] < n), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    inside = (i[:, None] < m) & (j[None, :] < n)
    place = i[:, None] * n + j[None, :]
    acc = alpha * acc + beta * tl.load(c_ptr + place, mask=inside, other=0.0)
    total = tl.sum(tl.sum(tl.where(inside, tl.abs(acc), 0.0), 1), 0)
    tl.store(out_ptr + tl.program_id(0) * tl.num_programs(1) + tl.program_id(1), total)


def symmetric_mm_and_abs_sum(A, C, alpha, beta):
    n, m = A.shape
    tiles = triton.cdiv(n, 32)
    parts = A.new_empty(tiles, tiles)
    symmetric_mm_and_abs_sum_kernel[(tiles, tiles)](A, A, C, parts, n, n, m, alpha, beta, BLOCK=32)
    return parts.sum()
