"""One program a matrix: Gaussian elimination with partial pivoting in registers.

breaks: dtype:float64, empty, non_contiguous
"""

import triton
import triton.language as tl


@triton.jit
def det_kernel(a_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i, j = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    line = tl.arange(0, BLOCK)
    a = tl.load(a_ptr + tl.program_id(0) * n * n + i * n + j, mask=(i < n) & (j < n), other=0.0)
    det = 1.0
    for k in range(n):
        column = tl.sum(tl.where(j == k, a, 0.0), 1)
        size = tl.where((line >= k) & (line < n), tl.abs(column), -1.0)
        best = tl.min(tl.where(size == tl.max(size, 0), line, BLOCK), 0)
        pivot_row = tl.sum(tl.where(i == best, a, 0.0), 0)
        old_row = tl.sum(tl.where(i == k, a, 0.0), 0)
        a = tl.where(i == k, pivot_row[None, :], tl.where(i == best, old_row[None, :], a))
        pivot = tl.sum(tl.where(line == k, pivot_row, 0.0), 0)
        det = tl.where(best == k, det, -det) * pivot
        column = tl.sum(tl.where(j == k, a, 0.0), 1)
        factor = tl.where(line > k, column / tl.where(pivot == 0, 1.0, pivot), 0.0)
        a -= factor[:, None] * pivot_row[None, :]
    tl.store(out_ptr + tl.program_id(0), det)


def det(A):
    n = A.shape[-1]
    out = A.new_empty(A.shape[:-2])
    det_kernel[(out.numel(),)](A, out, n, BLOCK=triton.next_power_of_2(n))
    return out
