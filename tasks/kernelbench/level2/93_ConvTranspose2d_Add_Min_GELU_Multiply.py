"""Transposed 2-D convolution, addition, minimum with zero, GELU and multiplication.

`Model(in_channels, out_channels, kernel_size, stride, add_value, multiply_value)` holds:

- `conv_transpose`: `nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the transposed convolution, no padding; each size `n` becomes `(n - 1) * stride + kernel_size`;
2. the sum with `add_value`;
3. the smaller of each element and 0;
4. the exact GELU, `0.5 * x * (1 + erf(x / sqrt(2)))`;
5. the product with `multiply_value`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=64, out_channels=128, height=64, width=64)
SCALED = dict(batch_size=2, in_channels=5, out_channels=7, height=9, width=11)

# Some inputs make sums far larger than 1. Where these happen to be small, their rounding errors remain, beside results
# of about 1.
CONTRACT = Close(scale=8.0)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, add_value, multiply_value):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride)
        self.add_value = add_value
        self.multiply_value = multiply_value

    def forward(self, x):
        x = torch.clamp(self.conv_transpose(x) + self.add_value, max=0.0)
        return F.gelu(x) * self.multiply_value


def init_inputs(in_channels, out_channels):
    kernel_size, stride, add_value, multiply_value = 4, 2, 0.5, 2.0
    return [in_channels, out_channels, kernel_size, stride, add_value, multiply_value]


def inputs(make, batch_size, in_channels, height, width):
    """Spread so wide that a part of the sums is negative."""
    scale = 1 if make.as_published else 4.0
    return call(scale * make.floats(batch_size, in_channels, height, width))


class PositiveWrittenOut(Model):
    """Adds up the two halves of the input channels; GELU with the complementary error function."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding
        first = F.conv_transpose2d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose2d(x[:, half:], layer.weight[half:], layer.bias, *options)
        x = (x + self.add_value).clamp(max=0)
        return 0.5 * self.multiply_value * x * torch.erfc(-x * 0.5**0.5)


class NegativeNoMinimum(Model):
    """Leaves the minimum out."""

    def forward(self, x):
        return F.gelu(self.conv_transpose(x) + self.add_value) * self.multiply_value


class NegativeAddsLast(Model):
    """Adds the constant after the minimum."""

    def forward(self, x):
        return F.gelu(self.conv_transpose(x).clamp(max=0) + self.add_value) * self.multiply_value


class NegativeNoBias(Model):
    """Leaves the bias out."""

    def forward(self, x):
        layer = self.conv_transpose
        x = F.conv_transpose2d(x, layer.weight, None, layer.stride) + self.add_value
        return F.gelu(x.clamp(max=0)) * self.multiply_value
