"""2-D convolution, then Mish twice.

`Model(in_channels, out_channels, kernel_size)` holds:

- `conv`: `nn.Conv2d(in_channels, out_channels, kernel_size)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. Mish, `x * tanh(log(1 + exp(x)))`;
3. Mish of that.
"""

import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=64, in_channels=64, out_channels=128, height=256, width=256)
SCALED = dict(batch_size=2, in_channels=5, out_channels=7, height=13, width=11)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)

    def forward(self, x):
        return F.mish(F.mish(self.conv(x)))


def init_inputs(in_channels, out_channels):
    kernel_size = 3
    return [in_channels, out_channels, kernel_size]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveRational(Model):
    """Mish as `x * (n - 1) / (n + 1)` with `n = (1 + exp(x))**2`."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv2d(x[:, :half], weight[:, :half]) + F.conv2d(x[:, half:], weight[:, half:], self.conv.bias)
        for _ in range(2):
            n = (1 + x.clamp(max=20.0).exp()).square()
            x = x * (n - 1) / (n + 1)
        return x


class NegativeOnce(Model):
    """Applies Mish once."""

    def forward(self, x):
        return F.mish(self.conv(x))


class NegativeSiLU(Model):
    """Takes SiLU for Mish."""

    def forward(self, x):
        return F.silu(F.silu(self.conv(x)))
