"""Divides by the sum of the squares and forgets the root.

mechanism: semantics/forgotten-root
source: correctness-illusion
static: none
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def norm_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + i, mask=i < n, other=0.0)
        squares += x * x
    total = tl.sum(squares, 0)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + i, mask=i < n, other=0.0)
        tl.store(y_ptr + row * n + i, x / total, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        norm_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=1024)
        return y
