"""3-D convolution, ReLU, leaky ReLU, GELU, sigmoid and bias addition.

`Model(in_channels, out_channels, kernel_size, bias_shape)` holds:

- `conv`: `nn.Conv3d(in_channels, out_channels, kernel_size)`;
- `bias`: a parameter of shape `bias_shape`, drawn from the standard normal distribution.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. ReLU;
3. leaky ReLU with slope 0.01, which changes nothing here since nothing is negative;
4. the exact GELU, `0.5 * x * (1 + erf(x / sqrt(2)))`;
5. the logistic function;
6. the sum with `bias`, broadcast over batch and positions.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=64, in_channels=8, out_channels=32, depth=32, height=64, width=64)
SCALED = dict(batch_size=2, in_channels=3, out_channels=7, depth=7, height=9, width=11)

# Some inputs make sums far larger than 1. Where these happen to be small, their rounding errors remain, beside results
# of about 1.
CONTRACT = Close(scale=8.0)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, bias_shape):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x):
        x = F.leaky_relu(torch.relu(self.conv(x)), negative_slope=0.01)
        return torch.sigmoid(F.gelu(x)) + self.bias


def init_inputs(in_channels, out_channels):
    kernel_size = 3
    return [in_channels, out_channels, kernel_size, (out_channels, 1, 1, 1)]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveSplitChannels(Model):
    """Adds up the two halves of the input channels and skips the leaky ReLU."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv3d(x[:, :half], weight[:, :half]) + F.conv3d(x[:, half:], weight[:, half:], self.conv.bias)
        x = x.clamp(min=0)
        return 1 / (1 + torch.exp(-0.5 * x * (1 + torch.erf(x * 0.5**0.5)))) + self.bias


class NegativeNoReLU(Model):
    """Takes the leaky ReLU alone."""

    def forward(self, x):
        return torch.sigmoid(F.gelu(F.leaky_relu(self.conv(x), 0.01))) + self.bias


class NegativeTanhGELU(Model):
    """The tanh approximation of GELU."""

    def forward(self, x):
        return torch.sigmoid(F.gelu(torch.relu(self.conv(x)), approximate="tanh")) + self.bias


class NegativeBiasBeforeSigmoid(Model):
    """Adds the bias before the last function."""

    def forward(self, x):
        return torch.sigmoid(F.gelu(torch.relu(self.conv(x))) + self.bias)
