"""Takes the normalised shape for a number, which for this task is three."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def layer_norm_kernel(x_ptr, weight_ptr, bias_ptr, y_ptr, n, eps, BLOCK: tl.constexpr):
    place = tl.arange(0, BLOCK)
    inside = place < n
    row = tl.program_id(0).to(tl.int64) * n
    x = tl.load(x_ptr + row + place, mask=inside, other=0.0)
    away = tl.where(inside, x - tl.sum(x, 0) / n, 0.0)
    y = away / tl.sqrt(tl.sum(away * away, 0) / n + eps)
    weight, bias = tl.load(weight_ptr + place, mask=inside), tl.load(bias_ptr + place, mask=inside)
    tl.store(y_ptr + row + place, y * weight + bias, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, normalized_shape):
        super().__init__()
        self.n = int(normalized_shape)
        self.ln = nn.LayerNorm(self.n)

    def forward(self, x):
        y = torch.empty_like(x)
        block = triton.next_power_of_2(self.n)
        layer_norm_kernel[(x.numel() // self.n,)](x, self.ln.weight, self.ln.bias, y, self.n, self.ln.eps, BLOCK=block)
        return y
