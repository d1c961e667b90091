"""2-D convolution, two subtractions of constants and Mish.

`Model(in_channels, out_channels, kernel_size, subtract_value_1, subtract_value_2)` holds:

- `conv`: `nn.Conv2d(in_channels, out_channels, kernel_size)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. the difference `x - subtract_value_1`;
3. the difference `x - subtract_value_2`;
4. Mish, `x * tanh(log(1 + exp(x)))`.
"""

import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=8, out_channels=64, height=256, width=256)
SCALED = dict(batch_size=2, in_channels=5, out_channels=7, height=13, width=11)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, subtract_value_1, subtract_value_2):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.subtract_value_1 = subtract_value_1
        self.subtract_value_2 = subtract_value_2

    def forward(self, x):
        return F.mish(self.conv(x) - self.subtract_value_1 - self.subtract_value_2)


def init_inputs(in_channels, out_channels):
    kernel_size, subtract_value_1, subtract_value_2 = 3, 0.5, 0.2
    return [in_channels, out_channels, kernel_size, subtract_value_1, subtract_value_2]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveOneSubtraction(Model):
    """Adds up the constants first; Mish as `x * (n - 1) / (n + 1)` with `n = (1 + exp(x))**2`."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv2d(x[:, :half], weight[:, :half]) + F.conv2d(x[:, half:], weight[:, half:], self.conv.bias)
        x = x - (self.subtract_value_1 + self.subtract_value_2)
        n = (1 + x.clamp(max=20.0).exp()).square()
        return x * (n - 1) / (n + 1)


class NegativeOneConstant(Model):
    """Subtracts only the first."""

    def forward(self, x):
        return F.mish(self.conv(x) - self.subtract_value_1)


class NegativeSiLU(Model):
    """Takes SiLU for Mish."""

    def forward(self, x):
        return F.silu(self.conv(x) - self.subtract_value_1 - self.subtract_value_2)


class NegativeSecondAfterMish(Model):
    """Subtracts the second constant last."""

    def forward(self, x):
        return F.mish(self.conv(x) - self.subtract_value_1) - self.subtract_value_2
