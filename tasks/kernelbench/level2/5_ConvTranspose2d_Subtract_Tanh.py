"""Transposed 2-D convolution, subtraction of a bias and tanh.

`Model(in_channels, out_channels, kernel_size, bias_shape, stride=2, padding=1, output_padding=1)` holds:

- `conv_transpose`: `nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride, padding, output_padding)`;
- `bias`: a parameter of shape `bias_shape`, drawn from the standard normal distribution.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the transposed convolution, height `(height - 1) * stride - 2 * padding + kernel_size + output_padding`, width
   likewise;
2. the difference to `bias`, `x - bias`, broadcast over batch and positions;
3. tanh.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=32, in_channels=64, out_channels=64, height=256, width=256)
SCALED = dict(batch_size=2, in_channels=5, out_channels=7, height=9, width=11)

# Some inputs make sums far larger than 1. Where these happen to be small, their rounding errors remain, beside results
# of about 1.
CONTRACT = Close(scale=8.0)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, bias_shape, stride=2, padding=1, output_padding=1):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose2d(
            in_channels, out_channels, kernel_size, stride, padding, output_padding
        )
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x):
        return torch.tanh(self.conv_transpose(x) - self.bias)


def init_inputs(in_channels, out_channels):
    kernel_size = 4
    return [in_channels, out_channels, kernel_size, (out_channels, 1, 1)]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveSplitChannels(Model):
    """Adds up the two halves of the input channels; tanh through the logistic function."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding, layer.output_padding
        first = F.conv_transpose2d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose2d(x[:, half:], layer.weight[half:], layer.bias, *options)
        return 2 * torch.sigmoid(2 * (x - self.bias)) - 1


class NegativeAdds(Model):
    """Adds the bias."""

    def forward(self, x):
        return torch.tanh(self.conv_transpose(x) + self.bias)


class NegativeNoConvolutionBias(Model):
    """Leaves the convolution's own bias out."""

    def forward(self, x):
        layer = self.conv_transpose
        x = F.conv_transpose2d(x, layer.weight, None, layer.stride, layer.padding, layer.output_padding)
        return torch.tanh(x - self.bias)
