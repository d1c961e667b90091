"""2-D convolution, Hardswish and ReLU.

`Model(in_channels, out_channels, kernel_size)` holds:

- `conv`: `nn.Conv2d(in_channels, out_channels, kernel_size)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. Hardswish, `x * min(max((x + 3) / 6, 0), 1)`;
3. ReLU.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=8, out_channels=64, height=128, width=128)
SCALED = dict(batch_size=2, in_channels=5, out_channels=7, height=11, width=15)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)

    def forward(self, x):
        return torch.relu(F.hardswish(self.conv(x)))


def init_inputs(in_channels, out_channels):
    kernel_size = 3
    return [in_channels, out_channels, kernel_size]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveReLUFirst(Model):
    """Hardswish is negative only where its argument is: ReLU may come first."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv2d(x[:, :half], weight[:, :half]) + F.conv2d(x[:, half:], weight[:, half:], self.conv.bias)
        x = x.clamp(min=0)
        return x * (x / 6 + 0.5).clamp(max=1)


class NegativeNoReLU(Model):
    """Leaves ReLU out."""

    def forward(self, x):
        return F.hardswish(self.conv(x))


class NegativeNoHardswish(Model):
    """Leaves Hardswish out."""

    def forward(self, x):
        return torch.relu(self.conv(x))


class NegativeSiLU(Model):
    """Takes SiLU for Hardswish."""

    def forward(self, x):
        return torch.relu(F.silu(self.conv(x)))
