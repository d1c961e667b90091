"""Few samples of millions of elements: many programs share a sample, each leaves a mean and a sum of squared deviations, and
whoever normalises puts these together first.

style: module_split_reduction
"""

import torch
import triton
import triton.language as tl
from torch import nn

PARTS = 64


@triton.jit
def moments_kernel(x_ptr, means_ptr, squares_ptr, n, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    part, sample = tl.program_id(0), tl.program_id(1)
    each = tl.cdiv(n, PARTS)
    first, last = part * each, tl.minimum((part + 1) * each, n)
    base = sample.to(tl.int64) * n
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(first, last, BLOCK):
        place = start + tl.arange(0, BLOCK)
        sums += tl.load(x_ptr + base + place, mask=place < last, other=0.0)
    mean = tl.sum(sums, 0) / tl.maximum(last - first, 1)
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(first, last, BLOCK):
        place = start + tl.arange(0, BLOCK)
        away = tl.where(place < last, tl.load(x_ptr + base + place, mask=place < last, other=0.0) - mean, 0.0)
        squares += away * away
    tl.store(means_ptr + sample * PARTS + part, mean)
    tl.store(squares_ptr + sample * PARTS + part, tl.sum(squares, 0))


@triton.jit
def normalise_kernel(
    x_ptr, y_ptr, weight_ptr, bias_ptr, means_ptr, squares_ptr, n, eps, PARTS: tl.constexpr, BLOCK: tl.constexpr
):
    sample = tl.program_id(1)
    parts = tl.arange(0, PARTS)
    each = tl.cdiv(n, PARTS)
    counts = tl.maximum(tl.minimum((parts + 1) * each, n) - parts * each, 0).to(tl.float32)
    means = tl.load(means_ptr + sample * PARTS + parts)
    squares = tl.load(squares_ptr + sample * PARTS + parts)
    mean = tl.sum(counts * means, 0) / n
    variance = (tl.sum(squares, 0) + tl.sum(counts * (means - mean) * (means - mean), 0)) / n
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = place < n
    base = sample.to(tl.int64) * n
    x = tl.load(x_ptr + base + place, mask=inside)
    weight = tl.load(weight_ptr + place, mask=inside)
    bias = tl.load(bias_ptr + place, mask=inside)
    tl.store(y_ptr + base + place, (x - mean) / tl.sqrt(variance + eps) * weight + bias, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, normalized_shape):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        batch, n = x.shape[0], self.ln.weight.numel()
        means = torch.empty(batch, PARTS, device=x.device)
        squares = torch.empty_like(means)
        moments_kernel[(PARTS, batch)](x, means, squares, n, PARTS=PARTS, BLOCK=2048)
        normalise_kernel[(triton.cdiv(n, 2048), batch)](
            x, y, self.ln.weight, self.ln.bias, means, squares, n, self.ln.eps, PARTS=PARTS, BLOCK=2048
        )
        return y
