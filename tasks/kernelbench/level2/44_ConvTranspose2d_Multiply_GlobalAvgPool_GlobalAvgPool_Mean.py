"""Transposed 2-D convolution, scaling, then global average pooling twice.

`Model(in_channels, out_channels, kernel_size, stride, padding, output_padding, multiplier)` holds:

- `conv_transpose`: `nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride, padding, output_padding)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the transposed convolution; here it doubles height and width;
2. the product with `multiplier`;
3. the mean over height and width, which are kept with size 1: `(batch_size, out_channels, 1, 1)`;
4. the same mean again, which changes nothing.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution", "reduction")
DTYPE = "float32"

PUBLISHED = dict(batch_size=16, in_channels=64, out_channels=128, height=128, width=128)
SCALED = dict(batch_size=3, in_channels=5, out_channels=7, height=9, width=11)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, output_padding, multiplier):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose2d(
            in_channels, out_channels, kernel_size, stride, padding, output_padding
        )
        self.multiplier = multiplier

    def forward(self, x):
        x = self.conv_transpose(x) * self.multiplier
        x = torch.mean(x, dim=[2, 3], keepdim=True)
        return torch.mean(x, dim=[2, 3], keepdim=True)


def init_inputs(in_channels, out_channels):
    kernel_size, stride, padding, output_padding = 3, 2, 1, 1
    multiplier = 0.5
    return [in_channels, out_channels, kernel_size, stride, padding, output_padding, multiplier]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveMeanFirst(Model):
    """Averages once, rows before columns, and scales the means."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding, layer.output_padding
        first = F.conv_transpose2d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose2d(x[:, half:], layer.weight[half:], layer.bias, *options)
        return x.mean(3, keepdim=True).mean(2, keepdim=True) * self.multiplier


class NegativeNoFactor(Model):
    """Leaves the multiplication out."""

    def forward(self, x):
        return self.conv_transpose(x).mean((2, 3), keepdim=True)


class NegativeBiasNotScaled(Model):
    """Adds the bias after the multiplication."""

    def forward(self, x):
        layer = self.conv_transpose
        x = F.conv_transpose2d(x, layer.weight, None, layer.stride, layer.padding, layer.output_padding)
        return x.mean((2, 3), keepdim=True) * self.multiplier + layer.bias[:, None, None]


class NegativeEveryTapCounts(Model):
    """Sums inputs and taps apart, as if no product fell into the padding."""

    def forward(self, x):
        layer = self.conv_transpose
        x = x.mean((2, 3)) @ layer.weight.sum((2, 3)) / math.prod(layer.stride) + layer.bias
        return x[:, :, None, None] * self.multiplier
