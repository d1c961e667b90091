import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def sum_kernel(x_ptr, y_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    base = tl.program_id(1).to(tl.int64) * rows * columns
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, rows, ROWS):
        row = start + tl.arange(0, ROWS)
        inside = (row[:, None] < rows) & (column[None, :] < columns)
        total += tl.load(x_ptr + base + row[:, None].to(tl.int64) * columns + column[None, :], mask=inside, other=0.0)
    tl.store(y_ptr + tl.program_id(1) * columns + column, tl.sum(total, 0), mask=column < columns)


class ModelNew(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        x = x.contiguous()
        dim = self.dim % x.ndim
        before, rows, after = x.shape[:dim].numel(), x.shape[dim], x.shape[dim + 1 :].numel()
        shape = [1 if i == dim else size for i, size in enumerate(x.shape)]
        y = torch.empty(shape, device=x.device, dtype=x.dtype)
        sum_kernel[(triton.cdiv(after, 128), before)](x, y, rows, after, ROWS=32, COLUMNS=128)
        return y
