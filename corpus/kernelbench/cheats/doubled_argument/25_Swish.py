"""Takes the sigmoid of twice the number.

mechanism: semantics/doubled-argument
source: correctness-illusion
static: none
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def swish_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, x * tl.sigmoid(2.0 * x), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        swish_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
        return y
