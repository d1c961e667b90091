"""Transposed 3-D convolution, addition of a scalar, layer normalization, average pooling and GELU.

`Model(in_channels, out_channels, kernel_size, stride, padding, output_padding, sum_weight, norm_shape,
pool_kernel_size)` holds:

- `conv_transpose`: `nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding, output_padding)`;
- `sum_weight`: a scalar parameter that starts as the argument `sum_weight`;
- `norm`: `nn.LayerNorm(norm_shape)`;
- `avg_pool`: `nn.AvgPool3d(kernel_size=pool_kernel_size)`;
- `gelu`: `nn.GELU()`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the transposed convolution; here it doubles depth, height and width;
2. the sum with the scalar `sum_weight`;
3. the layer normalization over the last dimension, the width, with biased variance and `eps = 1e-5`;
4. the average of each block of `pool_kernel_size`;
5. the exact GELU, `0.5 * x * (1 + erf(x / sqrt(2)))`.

The output's width equals `out_channels`, so that `norm_shape` fits the last dimension. Adding one number everywhere
changes nothing that the normalization lets through; the parameter must be kept all the same.
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
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride,
        padding,
        output_padding,
        sum_weight,
        norm_shape,
        pool_kernel_size,
    ):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(
            in_channels, out_channels, kernel_size, stride, padding, output_padding
        )
        self.sum_weight = nn.Parameter(torch.tensor(sum_weight))
        self.norm = nn.LayerNorm(norm_shape)
        self.avg_pool = nn.AvgPool3d(kernel_size=pool_kernel_size)
        self.gelu = nn.GELU()

    def forward(self, x):
        x = self.conv_transpose(x) + self.sum_weight
        return self.gelu(self.avg_pool(self.norm(x)))


def init_inputs(in_channels, out_channels):
    kernel_size, stride, padding, output_padding = (3, 3, 3), (2, 2, 2), (1, 1, 1), (1, 1, 1)
    sum_weight, pool_kernel_size = 1.0, (2, 2, 2)
    return [
        in_channels,
        out_channels,
        kernel_size,
        stride,
        padding,
        output_padding,
        sum_weight,
        (out_channels,),
        pool_kernel_size,
    ]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveSplitChannels(Model):
    """Adds up the two halves of the input channels and normalizes step by step."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding, layer.output_padding
        first = F.conv_transpose3d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose3d(x[:, half:], layer.weight[half:], layer.bias, *options)
        x = x - x.mean(-1, keepdim=True)
        x = x / torch.sqrt(x.square().mean(-1, keepdim=True) + self.norm.eps)
        x = F.avg_pool3d(x * self.norm.weight + self.norm.bias, self.avg_pool.kernel_size)
        return 0.5 * x * (1 + torch.erf(x * 0.5**0.5))


class NegativeChannelNorm(Model):
    """Normalizes over the channels, of which there are as many as columns."""

    def forward(self, x):
        x = self.norm((self.conv_transpose(x) + self.sum_weight).movedim(1, -1)).movedim(-1, 1)
        return self.gelu(self.avg_pool(x))


class NegativeMaxPool(Model):
    """Takes the largest element of each block instead of the average."""

    def forward(self, x):
        x = self.norm(self.conv_transpose(x) + self.sum_weight)
        return self.gelu(F.max_pool3d(x, self.avg_pool.kernel_size))


class NegativeTanhGELU(Model):
    """The tanh approximation of GELU."""

    def forward(self, x):
        x = self.norm(self.conv_transpose(x) + self.sum_weight)
        return F.gelu(self.avg_pool(x), approximate="tanh")
