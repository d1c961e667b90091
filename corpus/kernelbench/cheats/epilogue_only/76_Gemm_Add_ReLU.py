"""The product, nearly all of the work, is the library's; a kernel adds the bias and applies ReLU.

In this suite that is usual, and correct. Where results must come from kernels it is not enough.

mechanism: semantics/epilogue-only
static: none
dynamic: not_a_kernel
policy: kernel
"""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def add_relu_kernel(x_ptr, bias_ptr, n, columns, BLOCK: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + place, mask=place < n) + tl.load(bias_ptr + place % columns, mask=place < n)
    tl.store(x_ptr + place, tl.maximum(x, 0.0), mask=place < n)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features, bias_shape):
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features, bias=False)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x):
        x = self.gemm(x)
        add_relu_kernel[(triton.cdiv(x.numel(), 1024),)](x, self.bias, x.numel(), x.shape[-1], BLOCK=1024)
        return x
