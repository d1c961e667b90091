"""2-D convolution, multiplication of the channels, leaky ReLU and GELU.

`Model(in_channels, out_channels, kernel_size, multiplier_shape)` holds:

- `conv`: `nn.Conv2d(in_channels, out_channels, kernel_size)`;
- `multiplier`: a parameter of shape `multiplier_shape`, drawn from the standard normal distribution;
- `leaky_relu`: `nn.LeakyReLU()`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. the product with `multiplier`, broadcast over batch and positions;
3. leaky ReLU: `x` where it is positive, `0.01 * x` elsewhere;
4. the exact GELU, `0.5 * x * (1 + erf(x / sqrt(2)))`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=64, in_channels=64, out_channels=64, height=256, width=256)
SCALED = dict(batch_size=2, in_channels=5, out_channels=7, height=13, width=11)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, multiplier_shape):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.multiplier = nn.Parameter(torch.randn(multiplier_shape))
        self.leaky_relu = nn.LeakyReLU()

    def forward(self, x):
        return F.gelu(self.leaky_relu(self.conv(x) * self.multiplier))


def init_inputs(in_channels, out_channels):
    kernel_size = 3
    return [in_channels, out_channels, kernel_size, (out_channels, 1, 1)]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveSplitChannels(Model):
    """Adds up the two halves of the input channels; both activations written out."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv2d(x[:, :half], weight[:, :half]) + F.conv2d(x[:, half:], weight[:, half:], self.conv.bias)
        x = x * self.multiplier
        x = torch.maximum(x, 0.01 * x)
        return 0.5 * x * (1 + torch.erf(x * 0.5**0.5))


class NegativeNoMultiplier(Model):
    """Leaves the product out."""

    def forward(self, x):
        return F.gelu(self.leaky_relu(self.conv(x)))


class NegativeReLU(Model):
    """Takes ReLU for leaky ReLU."""

    def forward(self, x):
        return F.gelu(torch.relu(self.conv(x) * self.multiplier))


class NegativeNoGELU(Model):
    """Leaves GELU out."""

    def forward(self, x):
        return self.leaky_relu(self.conv(x) * self.multiplier)
