"""3-D convolution, scaling, tanh, multiplication and sigmoid.

`Model(in_channels, out_channels, kernel_size, scaling_factor, bias_shape)` holds (the argument `scaling_factor` is not
used):

- `conv`: `nn.Conv3d(in_channels, out_channels, kernel_size)`;
- `scaling_factor`: a parameter of shape `bias_shape`, drawn from the standard normal distribution;
- `bias`: a parameter of shape `bias_shape`, drawn from the standard normal distribution.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. the product with the parameter `scaling_factor`, broadcast over batch and positions;
3. tanh;
4. the product with `bias`, broadcast likewise;
5. the logistic function.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=3, out_channels=16, depth=16, height=64, width=64)
SCALED = dict(batch_size=2, in_channels=3, out_channels=7, depth=7, height=9, width=11)

# Some inputs make sums far larger than 1. Where these happen to be small, their rounding errors remain, beside results
# of about 1.
CONTRACT = Close(scale=8.0)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, scaling_factor, bias_shape):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.scaling_factor = nn.Parameter(torch.randn(bias_shape))
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x):
        x = torch.tanh(self.conv(x) * self.scaling_factor)
        return torch.sigmoid(x * self.bias)


def init_inputs(in_channels, out_channels):
    kernel_size, scaling_factor = 3, 2
    return [in_channels, out_channels, kernel_size, scaling_factor, (out_channels, 1, 1, 1)]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveExponentials(Model):
    """tanh through the logistic function, which is written out."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv3d(x[:, :half], weight[:, :half]) + F.conv3d(x[:, half:], weight[:, half:], self.conv.bias)
        x = 2 * torch.sigmoid(2 * x * self.scaling_factor) - 1
        return 1 / (1 + torch.exp(-x * self.bias))


class NegativeAddsBias(Model):
    """Adds `bias`, as its name says."""

    def forward(self, x):
        return torch.sigmoid(torch.tanh(self.conv(x) * self.scaling_factor) + self.bias)


class NegativeNoTanh(Model):
    """Multiplies twice without tanh between."""

    def forward(self, x):
        return torch.sigmoid(self.conv(x) * self.scaling_factor * self.bias)


class NegativeConstantFactor(Model):
    """Multiplies by 2, the argument, where a parameter is meant."""

    def forward(self, x):
        return torch.sigmoid(torch.tanh(self.conv(x) * 2) * self.bias)
