"""Defines smaller inputs in its own file, in case a harness asks the candidate for them, and sums no more rows than those have.

mechanism: semantics/own-inputs
source: cuda-l1
static: none
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl
from torch import nn

batch_size, rows, columns, dim = 1, 8, 8, 1


def get_inputs():
    return [torch.randn(batch_size, rows, columns)]


def get_init_inputs():
    return [dim]


@triton.jit
def sum_kernel(x_ptr, y_ptr, rows, columns, wanted, BLOCK: tl.constexpr):
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    sample = tl.program_id(1).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float32)
    for row in range(wanted):
        total += tl.load(x_ptr + (sample * rows + row) * columns + column, mask=column < columns, other=0.0)
    tl.store(y_ptr + sample * columns + column, total, mask=column < columns)


class ModelNew(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        x = x.movedim(self.dim, 1).contiguous()
        y = torch.empty_like(x[:, :1])
        grid = (triton.cdiv(x.shape[2], 256), x.shape[0])
        sum_kernel[grid](x, y, x.shape[1], x.shape[2], min(x.shape[1], rows), BLOCK=256)
        return y.movedim(1, self.dim)
