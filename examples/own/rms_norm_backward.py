"""The backward of the reference beside it: ./kbx eval examples/own/rms_norm_backward.py --reference examples/own/rms_norm_ref.py --backward

Each row leaves its part of the weight's gradient in float32; a second kernel adds the parts. Ends as `correct`.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def row_kernel(grad_ptr, x_ptr, weight_ptr, dx_ptr, part_ptr, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    x = tl.load(x_ptr + row * columns + at, mask=mask, other=0.0).to(tl.float32)
    grad = tl.load(grad_ptr + row * columns + at, mask=mask, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + at, mask=mask, other=0.0).to(tl.float32)
    scale = 1 / tl.sqrt(tl.sum(x * x) / columns + eps)
    weighted = grad * weight
    along = tl.sum(weighted * x) * scale * scale / columns
    tl.store(dx_ptr + row * columns + at, scale * (weighted - x * along), mask=mask)
    tl.store(part_ptr + row * columns + at, grad * x * scale, mask=mask)


@triton.jit
def sum_kernel(part_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, rows, ROWS):
        row = first + tl.arange(0, ROWS)
        mask = (row < rows)[:, None] & (column < columns)[None, :]
        at = row[:, None].to(tl.int64) * columns + column[None, :]
        total += tl.sum(tl.load(part_ptr + at, mask=mask, other=0.0), axis=0)
    tl.store(out_ptr + column, total, mask=column < columns)


def rms_norm_backward(grad_output, x, weight, eps):
    grad_output, x, weight = grad_output.contiguous(), x.contiguous(), weight.contiguous()
    rows, columns = x.shape
    dx, dweight = torch.empty_like(x), torch.empty_like(weight)
    parts = torch.empty(rows, columns, device=x.device, dtype=torch.float32)
    row_kernel[(rows,)](grad_output, x, weight, dx, parts, columns, eps, BLOCK=triton.next_power_of_2(columns))
    sum_kernel[(triton.cdiv(columns, 256),)](parts, dweight, rows, columns, ROWS=32, BLOCK=256)
    return dx, dweight
