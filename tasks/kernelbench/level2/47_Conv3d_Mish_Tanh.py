"""3-D convolution, Mish and tanh.

`Model(in_channels, out_channels, kernel_size, stride=1, padding=0)` holds:

- `conv`: `nn.Conv3d(in_channels, out_channels, kernel_size, stride, padding)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the convolution; by default stride 1, no padding;
2. Mish, `x * tanh(log(1 + exp(x)))`;
3. tanh.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=16, in_channels=32, out_channels=64, depth=32, height=64, width=64)
SCALED = dict(batch_size=2, in_channels=3, out_channels=7, depth=7, height=9, width=11)

# Some inputs make sums far larger than 1. Where these happen to be small, their rounding errors remain, beside results
# of about 1.
CONTRACT = Close(scale=8.0)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size, stride, padding)

    def forward(self, x):
        return torch.tanh(F.mish(self.conv(x)))


def init_inputs(in_channels, out_channels):
    kernel_size = 3
    return [in_channels, out_channels, kernel_size]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveRational(Model):
    """Mish as `x * (n - 1) / (n + 1)` with `n = (1 + exp(x))**2`."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv3d(x[:, :half], weight[:, :half]) + F.conv3d(x[:, half:], weight[:, half:], self.conv.bias)
        n = (1 + x.clamp(max=20.0).exp()).square()
        return 2 * torch.sigmoid(2 * x * (n - 1) / (n + 1)) - 1


class NegativeSiLU(Model):
    """Takes SiLU for Mish."""

    def forward(self, x):
        return torch.tanh(F.silu(self.conv(x)))


class NegativeNoTanh(Model):
    """Leaves tanh out."""

    def forward(self, x):
        return F.mish(self.conv(x))


class NegativeNoBias(Model):
    """Leaves the bias out."""

    def forward(self, x):
        return torch.tanh(F.mish(F.conv3d(x, self.conv.weight)))
