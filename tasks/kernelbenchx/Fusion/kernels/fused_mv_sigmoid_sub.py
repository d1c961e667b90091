"""A program takes a few rows of the matrix, multiplies them by the vector block by block, and finishes their results.

The matrix is read once, in order of its strides, which is all that costs time here.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def mv_sigmoid_sub_kernel(
    a_ptr, v_ptr, other_ptr, number, alpha, out_ptr, N, M, a_n, a_m, v_m, other_n,
    NUMBER: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    acc = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, M, BLOCK):
        k = start + tl.arange(0, BLOCK)
        mask = (row < N)[:, None] & (k < M)[None, :]
        a = tl.load(a_ptr + row[:, None] * a_n + k[None, :] * a_m, mask=mask, other=0.0)
        v = tl.load(v_ptr + k * v_m, mask=k < M, other=0.0)
        acc += a * v[None, :]
    s = tl.sigmoid(tl.sum(acc, 1))
    if NUMBER:
        s -= alpha * number
    else:
        s -= alpha * tl.load(other_ptr + row * other_n, mask=row < N, other=0.0)
    tl.store(out_ptr + row, s, mask=row < N)


def fused_mv_sigmoid_sub(input, vec, other, alpha=1, *, out=None):
    n, m = input.shape
    if out is None:
        out = torch.empty(n, dtype=input.dtype, device=input.device)
    if n:
        is_number = not isinstance(other, torch.Tensor)
        values = out if is_number else other.expand(n)
        rows = 16 if n < 4096 else 4
        mv_sigmoid_sub_kernel[(triton.cdiv(n, rows),)](
            input, vec, values, float(other) if is_number else 0.0, float(alpha), out, n, m,
            *input.stride(), *vec.stride(), *values.stride(), NUMBER=is_number, ROWS=rows, BLOCK=512,
        )  # fmt: skip
    return out
