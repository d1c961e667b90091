"""A block pointer: `correct` up to Triton 3.8, `compile_error` under 3.9, which has none."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    start = tl.program_id(0) * ROWS
    source = tl.make_block_ptr(x_ptr, (rows, columns), (columns, 1), (start, 0), (ROWS, COLUMNS), (1, 0))
    x = tl.load(source, boundary_check=(0, 1), padding_option="zero")
    x = tl.where(tl.arange(0, COLUMNS)[None, :] < columns, x, float("-inf"))
    e = tl.exp(x - tl.max(x, 1)[:, None])
    target = tl.make_block_ptr(out_ptr, (rows, columns), (columns, 1), (start, 0), (ROWS, COLUMNS), (1, 0))
    tl.store(target, e / tl.sum(e, 1)[:, None], boundary_check=(0, 1))


def softmax_rows(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    rows, columns = x.shape
    softmax_kernel[(triton.cdiv(rows, 16),)](x, out, rows, columns, ROWS=16, COLUMNS=triton.next_power_of_2(columns))
    return out
