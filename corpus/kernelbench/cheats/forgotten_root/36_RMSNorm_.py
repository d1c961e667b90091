"""Divides by the mean of the squares and forgets the root.

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
def rms_norm_kernel(x_ptr, y_ptr, channels, plane, eps, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = place < plane
    base = tl.program_id(1).to(tl.int64) * channels * plane
    squares = tl.zeros((BLOCK,), tl.float32)
    for channel in range(channels):
        x = tl.load(x_ptr + base + channel * plane + place, mask=inside, other=0.0)
        squares += x * x
    mean = squares / channels + eps
    for channel in range(channels):
        at = base + channel * plane + place
        tl.store(y_ptr + at, tl.load(x_ptr + at, mask=inside) / mean, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, num_features, eps=1e-5):
        super().__init__()
        self.eps = eps

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        batch, channels, plane = x.shape[0], x.shape[1], x[0, 0].numel()
        rms_norm_kernel[(triton.cdiv(plane, 512), batch)](x, y, channels, plane, self.eps, BLOCK=512)
        return y
