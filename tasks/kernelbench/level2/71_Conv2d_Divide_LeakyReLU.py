"""2-D convolution, division by a constant and leaky ReLU.

`Model(in_channels, out_channels, kernel_size, divisor)` holds:

- `conv`: `nn.Conv2d(in_channels, out_channels, kernel_size)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. the quotient by `divisor`;
3. leaky ReLU: `x` where it is positive, `0.01 * x` elsewhere.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=8, out_channels=64, height=128, width=128)
SCALED = dict(batch_size=2, in_channels=5, out_channels=7, height=13, width=11)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, divisor):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.divisor = divisor

    def forward(self, x):
        return F.leaky_relu(self.conv(x) / self.divisor, negative_slope=0.01)


def init_inputs(in_channels, out_channels):
    kernel_size, divisor = 3, 2
    return [in_channels, out_channels, kernel_size, divisor]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveSplitChannels(Model):
    """Adds up the two halves of the input channels and divides last."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv2d(x[:, :half], weight[:, :half]) + F.conv2d(x[:, half:], weight[:, half:], self.conv.bias)
        return torch.maximum(x, 0.01 * x) / self.divisor


class NegativeMultiplies(Model):
    """Multiplies by the divisor."""

    def forward(self, x):
        return F.leaky_relu(self.conv(x) * self.divisor, 0.01)


class NegativeReLU(Model):
    """Takes ReLU for leaky ReLU."""

    def forward(self, x):
        return torch.relu(self.conv(x) / self.divisor)


class NegativeBiasNotDivided(Model):
    """Divides the products and adds the bias whole."""

    def forward(self, x):
        x = F.conv2d(x, self.conv.weight) / self.divisor + self.conv.bias[:, None, None]
        return F.leaky_relu(x, 0.01)
