"""Transposed 3-D convolution, leaky ReLU, multiplication, leaky ReLU and max pooling.

`Model(in_channels, out_channels, kernel_size, stride, padding, output_padding, multiplier_shape)` holds:

- `conv_transpose`: `nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding, output_padding)`;
- `multiplier`: a parameter of shape `multiplier_shape`, drawn from the standard normal distribution;
- `leaky_relu`: `nn.LeakyReLU(negative_slope=0.2)`;
- `max_pool`: `nn.MaxPool3d(kernel_size=2)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the transposed convolution; here it doubles depth, height and width;
2. leaky ReLU: `x` where it is positive, `0.2 * x` elsewhere;
3. the product with `multiplier`, broadcast over batch and positions;
4. leaky ReLU again;
5. the largest element of each 2 by 2 by 2 block.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution", "pooling")
DTYPE = "float32"

PUBLISHED = dict(batch_size=16, in_channels=16, out_channels=32, depth=16, height=32, width=32)
SCALED = dict(batch_size=2, in_channels=3, out_channels=7, depth=4, height=5, width=6)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, output_padding, multiplier_shape):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(
            in_channels, out_channels, kernel_size, stride, padding, output_padding
        )
        self.multiplier = nn.Parameter(torch.randn(multiplier_shape))
        self.leaky_relu = nn.LeakyReLU(negative_slope=0.2)
        self.max_pool = nn.MaxPool3d(kernel_size=2)

    def forward(self, x):
        x = self.leaky_relu(self.conv_transpose(x)) * self.multiplier
        return self.max_pool(self.leaky_relu(x))


def init_inputs(in_channels, out_channels):
    kernel_size, stride, padding, output_padding = 3, 2, 1, 1
    return [in_channels, out_channels, kernel_size, stride, padding, output_padding, (out_channels, 1, 1, 1)]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


def usable(model):
    """With positive multipliers alone, whether they come before the pooling or after makes no difference."""
    return bool((model.multiplier < 0).any())


class PositivePoolsEarlier(Model):
    """Leaky ReLU keeps the order: the second one may follow the pooling."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding, layer.output_padding
        first = F.conv_transpose3d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose3d(x[:, half:], layer.weight[half:], layer.bias, *options)
        x = F.max_pool3d(torch.maximum(x, 0.2 * x) * self.multiplier, 2)
        return torch.maximum(x, 0.2 * x)


class NegativePoolsBeforeMultiplying(Model):
    """Pools before the product, whose sign may be negative."""

    def forward(self, x):
        x = self.max_pool(self.leaky_relu(self.conv_transpose(x)))
        return self.leaky_relu(x * self.multiplier)


class NegativeDefaultSlope(Model):
    """Takes the usual slope of 0.01."""

    def forward(self, x):
        x = F.leaky_relu(F.leaky_relu(self.conv_transpose(x)) * self.multiplier)
        return self.max_pool(x)


class NegativeOneLeakyReLU(Model):
    """Leaves the second activation out."""

    def forward(self, x):
        return self.max_pool(self.leaky_relu(self.conv_transpose(x)) * self.multiplier)
