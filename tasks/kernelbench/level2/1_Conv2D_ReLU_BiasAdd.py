"""2-D convolution, ReLU and bias addition.

`Model(in_channels, out_channels, kernel_size, bias_shape)` holds:

- `conv`: `nn.Conv2d(in_channels, out_channels, kernel_size)`;
- `bias`: a parameter of shape `bias_shape`, drawn from the standard normal distribution.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. ReLU;
3. the sum with `bias`, broadcast over batch and positions.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=64, out_channels=128, height=128, width=128)
SCALED = dict(batch_size=2, in_channels=5, out_channels=7, height=13, width=11)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, bias_shape):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x):
        return torch.relu(self.conv(x)) + self.bias


def init_inputs(in_channels, out_channels):
    kernel_size = 3
    return [in_channels, out_channels, kernel_size, (out_channels, 1, 1)]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveSplitChannels(Model):
    """Adds up the two halves of the input channels."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv2d(x[:, :half], weight[:, :half]) + F.conv2d(x[:, half:], weight[:, half:], self.conv.bias)
        return x.clamp(min=0) + self.bias


class NegativeBiasBeforeReLU(Model):
    """Adds the bias first, as a convolution's own bias would be."""

    def forward(self, x):
        return torch.relu(self.conv(x) + self.bias)


class NegativeNoBias(Model):
    """Leaves the second bias out."""

    def forward(self, x):
        return torch.relu(self.conv(x))
