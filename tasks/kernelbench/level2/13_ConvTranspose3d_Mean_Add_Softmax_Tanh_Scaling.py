"""Transposed 3-D convolution, mean over the depth, bias addition, softmax, tanh and scaling.

`Model(in_channels, out_channels, kernel_size, stride, padding, scaling_factor)` holds:

- `conv_transpose`: `nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding)`;
- `bias`: a parameter of shape `(1, out_channels, 1, 1, 1)`, drawn from the standard normal distribution.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the transposed convolution; here it keeps depth, height and width;
2. the mean over the depth, which is kept with size 1;
3. the sum with `bias`;
4. softmax over the channels, dimension 1;
5. tanh;
6. the product with `scaling_factor`: `(batch_size, out_channels, 1, height, width)`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=16, in_channels=16, out_channels=64, depth=32, height=128, width=128)
SCALED = dict(batch_size=2, in_channels=3, out_channels=7, depth=6, height=9, width=11)

# A tangent made of exponentials, such as 2σ(2x) - 1, loses what is small against 1.
CONTRACT = Close(scale=1.0)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, scaling_factor):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding)
        self.bias = nn.Parameter(torch.randn(1, out_channels, 1, 1, 1))
        self.scaling_factor = scaling_factor

    def forward(self, x):
        x = self.conv_transpose(x).mean(dim=2, keepdim=True) + self.bias
        return torch.tanh(torch.softmax(x, dim=1)) * self.scaling_factor


def init_inputs(in_channels, out_channels):
    kernel_size, stride, padding, scaling_factor = 3, 1, 1, 2.0
    return [in_channels, out_channels, kernel_size, stride, padding, scaling_factor]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveSplitChannels(Model):
    """Adds up the two halves of the input channels; tanh through the logistic function."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding
        first = F.conv_transpose3d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose3d(x[:, half:], layer.weight[half:], layer.bias, *options)
        x = x.sum(2, keepdim=True) / x.shape[2] + self.bias
        x = (x - x.amax(1, keepdim=True)).exp()
        x = x / x.sum(1, keepdim=True)
        return self.scaling_factor * torch.expm1(2 * x) / (torch.exp(2 * x) + 1)


class NegativeMeanOverChannels(Model):
    """Averages over the channels."""

    def forward(self, x):
        x = self.conv_transpose(x).mean(1, keepdim=True).mean(2, keepdim=True) + self.bias
        return torch.tanh(torch.softmax(x, dim=1)) * self.scaling_factor


class NegativeNoTanh(Model):
    """Leaves tanh out."""

    def forward(self, x):
        x = self.conv_transpose(x).mean(dim=2, keepdim=True) + self.bias
        return torch.softmax(x, dim=1) * self.scaling_factor


class NegativeSumOverDepth(Model):
    """Sums instead of averaging."""

    def forward(self, x):
        x = self.conv_transpose(x).sum(dim=2, keepdim=True) + self.bias
        return torch.tanh(torch.softmax(x, dim=1)) * self.scaling_factor
