"""Transposed 3-D convolution, scaling, average pooling, bias addition and scaling.

`Model(in_channels, out_channels, kernel_size, stride, padding, scale1, scale2, bias_shape)` holds:

- `conv_transpose`: `nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding)`;
- `scale1`: a scalar parameter that starts as the argument `scale1`;
- `avg_pool`: `nn.AvgPool3d(kernel_size=2)`;
- `bias`: a parameter of shape `bias_shape`, drawn from the standard normal distribution;
- `scale2`: a scalar parameter that starts as the argument `scale2`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the transposed convolution; each size `n` becomes `2 * n - 1`;
2. the product with the scalar `scale1`;
3. the average of each 2 by 2 by 2 block; the last plane, row and column are left over and dropped;
4. the sum with `bias`, broadcast over batch and positions;
5. the product with the scalar `scale2`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution", "pooling")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=3, out_channels=16, depth=16, height=32, width=32)
SCALED = dict(batch_size=2, in_channels=3, out_channels=7, depth=4, height=5, width=6)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, scale1, scale2, bias_shape):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding)
        self.scale1 = nn.Parameter(torch.tensor(scale1))
        self.avg_pool = nn.AvgPool3d(kernel_size=2)
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.scale2 = nn.Parameter(torch.tensor(scale2))

    def forward(self, x):
        x = self.avg_pool(self.conv_transpose(x) * self.scale1)
        return (x + self.bias) * self.scale2


def init_inputs(in_channels, out_channels):
    kernel_size, stride, padding = 3, 2, 1
    scale1, scale2 = 0.5, 1.0
    return [in_channels, out_channels, kernel_size, stride, padding, scale1, scale2, (out_channels, 1, 1, 1)]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveLateScaling(Model):
    """Scales the averages."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding
        first = F.conv_transpose3d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose3d(x[:, half:], layer.weight[half:], layer.bias, *options)
        return F.avg_pool3d(x, 2) * (self.scale1 * self.scale2) + self.bias * self.scale2


class NegativeBiasBeforeScaling(Model):
    """Adds the bias before the first factor."""

    def forward(self, x):
        return self.avg_pool((self.conv_transpose(x) + self.bias) * self.scale1) * self.scale2


class NegativeNoBias(Model):
    """Leaves the second bias out."""

    def forward(self, x):
        return self.avg_pool(self.conv_transpose(x) * self.scale1) * self.scale2


class NegativeMaxPool(Model):
    """Takes the largest element of each block."""

    def forward(self, x):
        x = F.max_pool3d(self.conv_transpose(x) * self.scale1, 2)
        return (x + self.bias) * self.scale2
