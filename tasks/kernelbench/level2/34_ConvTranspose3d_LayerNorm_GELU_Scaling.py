"""Transposed 3-D convolution, layer normalization, GELU and scaling.

`Model(in_channels, out_channels, kernel_size, stride, padding, bias=True, eps=1e-5, scaling_factor=1.0)` holds:

- `conv_transpose`: `nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding, bias=bias)`;
- `layer_norm`: `nn.LayerNorm(out_channels, eps=eps)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the transposed convolution; here it doubles depth, height and width;
2. the layer normalization over the last dimension, the width, with biased variance;
3. the exact GELU, `0.5 * x * (1 + erf(x / sqrt(2)))`;
4. the product with `scaling_factor`.

The output's width equals `out_channels`, so that the normalization fits the last dimension.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution", "normalization")
DTYPE = "float32"

PUBLISHED = dict(batch_size=32, in_channels=32, out_channels=64, depth=16, height=32, width=32)
SCALED = dict(batch_size=2, in_channels=3, out_channels=10, depth=3, height=4, width=5)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(
        self, in_channels, out_channels, kernel_size, stride, padding, bias=True, eps=1e-5, scaling_factor=1.0
    ):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding, bias=bias)
        self.layer_norm = nn.LayerNorm(out_channels, eps=eps)
        self.scaling_factor = scaling_factor

    def forward(self, x):
        return F.gelu(self.layer_norm(self.conv_transpose(x))) * self.scaling_factor


def init_inputs(in_channels, out_channels):
    kernel_size, stride, padding = 4, 2, 1
    bias, eps, scaling_factor = True, 1e-5, 1.0
    return [in_channels, out_channels, kernel_size, stride, padding, bias, eps, scaling_factor]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveStepByStep(Model):
    """Adds up the two halves of the input channels; mean first, then the variance."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding
        first = F.conv_transpose3d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose3d(x[:, half:], layer.weight[half:], layer.bias, *options)
        x = x - x.mean(-1, keepdim=True)
        x = x / torch.sqrt(x.square().mean(-1, keepdim=True) + self.layer_norm.eps)
        x = x * self.layer_norm.weight + self.layer_norm.bias
        return x * (1 + torch.erf(x * 0.5**0.5)) * (0.5 * self.scaling_factor)


class NegativeChannelNorm(Model):
    """Normalizes over the channels, of which there are as many as columns."""

    def forward(self, x):
        x = self.layer_norm(self.conv_transpose(x).movedim(1, -1)).movedim(-1, 1)
        return F.gelu(x) * self.scaling_factor


class NegativeTanhGELU(Model):
    """The tanh approximation of GELU."""

    def forward(self, x):
        return F.gelu(self.layer_norm(self.conv_transpose(x)), approximate="tanh") * self.scaling_factor


class NegativeUnbiasedVariance(Model):
    """Divides the squares by one less than their number."""

    def forward(self, x):
        x = self.conv_transpose(x)
        x = (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True) + self.layer_norm.eps)
        return F.gelu(x) * self.scaling_factor
