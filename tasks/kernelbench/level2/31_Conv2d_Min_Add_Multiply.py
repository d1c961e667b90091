"""2-D convolution, minimum with a constant, bias addition and scaling.

`Model(in_channels, out_channels, kernel_size, constant_value, bias_shape, scaling_factor)` holds:

- `conv`: `nn.Conv2d(in_channels, out_channels, kernel_size)`;
- `bias`: a parameter of shape `bias_shape`, drawn from the standard normal distribution.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. the smaller of each element and `constant_value`;
3. the sum with `bias`, broadcast over batch and positions;
4. the product with `scaling_factor`.
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
    def __init__(self, in_channels, out_channels, kernel_size, constant_value, bias_shape, scaling_factor):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.constant_value = constant_value
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.scaling_factor = scaling_factor

    def forward(self, x):
        x = torch.clamp(self.conv(x), max=self.constant_value)
        return (x + self.bias) * self.scaling_factor


def init_inputs(in_channels, out_channels):
    kernel_size, constant_value, scaling_factor = 3, 0.5, 2.0
    return [in_channels, out_channels, kernel_size, constant_value, (out_channels, 1, 1), scaling_factor]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveSplitChannels(Model):
    """Adds up the two halves of the input channels and scales the terms apart."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv2d(x[:, :half], weight[:, :half]) + F.conv2d(x[:, half:], weight[:, half:], self.conv.bias)
        x = torch.where(x < self.constant_value, x, self.constant_value)
        return x * self.scaling_factor + self.bias * self.scaling_factor


class NegativeBiasFirst(Model):
    """Adds the bias before the minimum."""

    def forward(self, x):
        return torch.clamp(self.conv(x) + self.bias, max=self.constant_value) * self.scaling_factor


class NegativeMaximum(Model):
    """Takes the larger."""

    def forward(self, x):
        return (torch.clamp(self.conv(x), min=self.constant_value) + self.bias) * self.scaling_factor


class NegativeBiasNotScaled(Model):
    """Scales before it adds the bias."""

    def forward(self, x):
        return torch.clamp(self.conv(x), max=self.constant_value) * self.scaling_factor + self.bias
