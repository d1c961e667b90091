"""Transposed 3-D convolution, clamping from below and division by a constant.

`Model(in_channels, out_channels, kernel_size, stride, padding, min_value, divisor)` holds:

- `conv_transpose`: `nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the transposed convolution; each size `n` becomes `2 * n - 1`;
2. the larger of each element and `min_value`;
3. the quotient by `divisor`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=16, in_channels=64, out_channels=128, depth=24, height=48, width=48)
SCALED = dict(batch_size=2, in_channels=3, out_channels=7, depth=5, height=6, width=7)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, min_value, divisor):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding)
        self.min_value = min_value
        self.divisor = divisor

    def forward(self, x):
        return torch.clamp(self.conv_transpose(x), min=self.min_value) / self.divisor


def init_inputs(in_channels, out_channels):
    kernel_size, stride, padding = 3, 2, 1
    min_value, divisor = -1.0, 2.0
    return [in_channels, out_channels, kernel_size, stride, padding, min_value, divisor]


def inputs(make, batch_size, in_channels, depth, height, width):
    """Spread so wide that a part of the sums is below the limit."""
    scale = 1 if make.as_published else 4.0
    return call(scale * make.floats(batch_size, in_channels, depth, height, width))


class PositiveDividesFirst(Model):
    """Adds up the two halves of the input channels; clamps the quotient."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding
        first = F.conv_transpose3d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose3d(x[:, half:], layer.weight[half:], layer.bias, *options)
        return (x / self.divisor).clamp(min=self.min_value / self.divisor)


class NegativeClampsLast(Model):
    """Clamps the quotient with the whole limit."""

    def forward(self, x):
        return torch.clamp(self.conv_transpose(x) / self.divisor, min=self.min_value)


class NegativeNoClamp(Model):
    """Leaves the clamp out."""

    def forward(self, x):
        return self.conv_transpose(x) / self.divisor


class NegativeMinimum(Model):
    """Takes the smaller of each element and `min_value`."""

    def forward(self, x):
        return torch.clamp(self.conv_transpose(x), max=self.min_value) / self.divisor
