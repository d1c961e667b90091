"""2-D convolution, GELU and global average pooling.

`Model(in_channels, out_channels, kernel_size)` holds:

- `conv`: `nn.Conv2d(in_channels, out_channels, kernel_size)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. the exact GELU, `0.5 * x * (1 + erf(x / sqrt(2)))`;
3. the mean over height and width: `(batch_size, out_channels)`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "reduction")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=8, out_channels=64, height=256, width=256)
SCALED = dict(batch_size=3, in_channels=5, out_channels=7, height=13, width=15)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)

    def forward(self, x):
        return F.adaptive_avg_pool2d(F.gelu(self.conv(x)), 1).flatten(1)


def init_inputs(in_channels, out_channels):
    kernel_size = 3
    return [in_channels, out_channels, kernel_size]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveRowsFirst(Model):
    """Adds up the two halves of the input channels, and averages rows before columns."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv2d(x[:, :half], weight[:, :half]) + F.conv2d(x[:, half:], weight[:, half:], self.conv.bias)
        x = 0.5 * x * (1 + torch.erf(x * 0.5**0.5))
        return x.mean(3).mean(2)


class NegativePoolsFirst(Model):
    """Swaps the pooling and GELU."""

    def forward(self, x):
        return F.gelu(self.conv(x).mean((2, 3)))


class NegativeMeanOfInputSize(Model):
    """Divides by the number of input positions."""

    def forward(self, x):
        return F.gelu(self.conv(x)).sum((2, 3)) / x[0, 0].numel()


class NegativeTanhGELU(Model):
    """The tanh approximation of GELU."""

    def forward(self, x):
        return F.gelu(self.conv(x), approximate="tanh").mean((2, 3))
