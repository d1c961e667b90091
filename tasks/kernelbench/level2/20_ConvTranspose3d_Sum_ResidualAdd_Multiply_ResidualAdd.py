"""Transposed 3-D convolution whose result is combined with itself and a bias.

`Model(in_channels, out_channels, kernel_size, stride, padding, output_padding, bias_shape)` holds:

- `conv_transpose`: `nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding, output_padding)`;
- `bias`: a parameter of shape `bias_shape`, drawn from the standard normal distribution.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the transposed convolution `c`; here it doubles depth, height and width;
2. the sum `c + bias`, broadcast over batch and positions;
3. the sum with `c`;
4. the product with `c`;
5. the sum with `c`: altogether `((c + bias) + c) * c + c`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=16, in_channels=32, out_channels=64, depth=16, height=32, width=32)
SCALED = dict(batch_size=2, in_channels=3, out_channels=7, depth=5, height=6, width=7)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, output_padding, bias_shape):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(
            in_channels, out_channels, kernel_size, stride, padding, output_padding
        )
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x):
        original = self.conv_transpose(x)
        x = original + self.bias + original
        return x * original + original


def init_inputs(in_channels, out_channels):
    kernel_size, stride, padding, output_padding = 3, 2, 1, 1
    return [in_channels, out_channels, kernel_size, stride, padding, output_padding, (out_channels, 1, 1, 1)]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveFactored(Model):
    """`c * (2 * c + (bias + 1))`, the convolution in two halves of the input channels."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding, layer.output_padding
        first = F.conv_transpose3d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose3d(x[:, half:], layer.weight[half:], layer.bias, *options)
        return x * (2 * x + (self.bias + 1))


class NegativeNoLastAddition(Model):
    """Leaves the last addition out."""

    def forward(self, x):
        original = self.conv_transpose(x)
        return (original + self.bias + original) * original


class NegativeOneResidual(Model):
    """Adds the convolution once only."""

    def forward(self, x):
        original = self.conv_transpose(x)
        return (original + self.bias) * original + original


class NegativeNoBias(Model):
    """Leaves the second bias out."""

    def forward(self, x):
        original = self.conv_transpose(x)
        return (original + original) * original + original
