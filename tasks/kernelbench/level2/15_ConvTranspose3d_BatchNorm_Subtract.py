"""Transposed 3-D convolution, batch normalization, and subtraction of the mean over the volume.

`Model(in_channels, out_channels, kernel_size, stride, padding, bias=True)` holds:

- `conv_transpose`: `nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding, bias=bias)`;
- `batch_norm`: `nn.BatchNorm3d(out_channels)`, in training mode: it normalizes each channel with the mean and biased
  variance of the batch at hand; its running statistics do not enter the result.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the transposed convolution; each size `n` becomes `(n - 1) * stride - 2 * padding + kernel_size`;
2. the batch normalization over batch, depth, height and width;
3. the difference to the mean of each sample and channel over depth, height and width.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution", "normalization")
DTYPE = "float32"

PUBLISHED = dict(batch_size=16, in_channels=16, out_channels=32, depth=16, height=32, width=32)
SCALED = dict(batch_size=3, in_channels=3, out_channels=7, depth=5, height=6, width=7)

# Small inputs leave little more than the convolution's bias: when the normalization has taken that away, its rounding
# errors remain, and those of a running mean, which one lane may keep.
CONTRACT = Close(scale=6.0)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, bias=True):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding, bias=bias)
        self.batch_norm = nn.BatchNorm3d(out_channels)

    def forward(self, x):
        x = self.batch_norm(self.conv_transpose(x))
        return x - torch.mean(x, dim=(2, 3, 4), keepdim=True)


def init_inputs(in_channels, out_channels):
    kernel_size, stride, padding = 3, 2, 1
    return [in_channels, out_channels, kernel_size, stride, padding]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveOneScale(Model):
    """Centres each volume and scales it by the batch's deviation: the mean of the batch cancels."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding
        first = F.conv_transpose3d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose3d(x[:, half:], layer.weight[half:], layer.bias, *options)
        deviation = torch.sqrt(x.var((0, 2, 3, 4), correction=0, keepdim=True) + self.batch_norm.eps)
        x = (x - x.mean((2, 3, 4), keepdim=True)) / deviation
        return x * self.batch_norm.weight[:, None, None, None]


class NegativeNoSubtraction(Model):
    """Leaves the last step out."""

    def forward(self, x):
        return self.batch_norm(self.conv_transpose(x))


class NegativeInstanceNorm(Model):
    """Normalizes each sample by itself."""

    def forward(self, x):
        return F.instance_norm(self.conv_transpose(x), eps=self.batch_norm.eps)


class NegativeMeanOfBatch(Model):
    """Subtracts the mean of the whole batch."""

    def forward(self, x):
        x = self.batch_norm(self.conv_transpose(x))
        return x - x.mean((0, 2, 3, 4), keepdim=True)
