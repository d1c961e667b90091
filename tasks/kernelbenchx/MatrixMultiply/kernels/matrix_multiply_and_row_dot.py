"""Only the first two rows of the product are made, since no others matter: B is read once, A and C hardly.

Each program takes a block of B's columns and a stretch of its rows, so that wide and tall matrices both fill the
device. A second launch of one program adds up the stretches and C and makes the dot product.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def two_rows_kernel(
    a_ptr, b_ptr, part_ptr, m, p, stretch, a_n, a_m, b_m, b_p, BLOCK_M: tl.constexpr, BLOCK_P: tl.constexpr
):
    """Writes part[s, r, j], the sum of row r and column j over stretch s."""
    j = (tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)).to(tl.int64)
    first = tl.program_id(1) * stretch
    last = tl.minimum(first + stretch, m)
    acc0 = tl.zeros((BLOCK_M, BLOCK_P), tl.float32)
    acc1 = tl.zeros((BLOCK_M, BLOCK_P), tl.float32)
    for start in range(first, last, BLOCK_M):
        k = start + tl.arange(0, BLOCK_M).to(tl.int64)
        b = tl.load(b_ptr + k[:, None] * b_m + j[None, :] * b_p, mask=(k < last)[:, None] & (j < p)[None, :], other=0.0)
        acc0 += tl.load(a_ptr + k * a_m, mask=k < last, other=0.0)[:, None] * b
        acc1 += tl.load(a_ptr + a_n + k * a_m, mask=k < last, other=0.0)[:, None] * b
    at = part_ptr + tl.program_id(1) * 2 * p + j
    tl.store(at, tl.sum(acc0, 0), mask=j < p)
    tl.store(at + p, tl.sum(acc1, 0), mask=j < p)


@triton.jit
def row_dot_kernel(part_ptr, c_ptr, out_ptr, alpha, beta, p, stretches, c_n, c_p, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, p, BLOCK):
        j = start + tl.arange(0, BLOCK).to(tl.int64)
        row0 = tl.zeros((BLOCK,), tl.float32)
        row1 = tl.zeros((BLOCK,), tl.float32)
        for s in range(stretches):
            row0 += tl.load(part_ptr + s * 2 * p + j, mask=j < p, other=0.0)
            row1 += tl.load(part_ptr + (s * 2 + 1) * p + j, mask=j < p, other=0.0)
        row0 = alpha * row0 + beta * tl.load(c_ptr + j * c_p, mask=j < p, other=0.0)
        row1 = alpha * row1 + beta * tl.load(c_ptr + c_n + j * c_p, mask=j < p, other=0.0)
        acc += row0 * row1
    tl.store(out_ptr, tl.sum(acc))


def matrix_multiply_and_row_dot(
    A: torch.Tensor, B: torch.Tensor, alpha: float, beta: float, C: torch.Tensor
) -> torch.Tensor:
    m, p = B.shape
    blocks, stretch = triton.cdiv(p, 64), 256
    stretches = triton.cdiv(m, stretch)
    result = torch.empty((), dtype=A.dtype, device=A.device)
    part = torch.empty((stretches, 2, p), dtype=A.dtype, device=A.device)
    if part.numel():
        two_rows_kernel[(blocks, stretches)](
            A, B, part, m, p, stretch, *A.stride(), *B.stride(), BLOCK_M=32, BLOCK_P=64
        )
    row_dot_kernel[(1,)](part, C, result, float(alpha), float(beta), p, stretches, *C.stride(), BLOCK=1024)
    return result
