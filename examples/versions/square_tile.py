"""`tl.softmax` of a square tile: `wrong_values` up to Triton 3.8, which takes the maxima and sums of rows for those of columns; `correct` under 3.9."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, rows, columns, SIDE: tl.constexpr):
    row = tl.program_id(0) * SIDE + tl.arange(0, SIDE)[:, None]
    column = tl.arange(0, SIDE)[None, :]
    inside = (row < rows) & (column < columns)
    x = tl.load(x_ptr + row * columns + column, mask=inside, other=float("-inf"))
    x = tl.where(row < rows, x, 0.0)
    tl.store(out_ptr + row * columns + column, tl.softmax(x, 1), mask=inside)


def softmax_rows(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    rows, columns = x.shape
    side = triton.next_power_of_2(columns)
    softmax_kernel[(triton.cdiv(rows, side),)](x, out, rows, columns, SIDE=side)
    return out
