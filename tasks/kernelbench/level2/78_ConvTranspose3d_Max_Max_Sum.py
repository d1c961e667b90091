"""Transposed 3-D convolution, max pooling twice and a sum over the channels.

`Model(in_channels, out_channels, kernel_size, stride, padding)` holds:

- `conv_transpose`: `nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding)`;
- `max_pool1`: `nn.MaxPool3d(kernel_size=2)`;
- `max_pool2`: `nn.MaxPool3d(kernel_size=3)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the transposed convolution; each size `n` becomes `2 * n - 1`;
2. the largest element of each 2 by 2 by 2 block; what is left over at the ends is dropped;
3. the largest element of each 3 by 3 by 3 block of that, likewise;
4. the sum over the channels, dimension 1, which is kept with size 1.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution", "pooling")
DTYPE = "float32"

PUBLISHED = dict(batch_size=16, in_channels=32, out_channels=64, depth=32, height=32, width=32)
SCALED = dict(batch_size=2, in_channels=3, out_channels=7, depth=7, height=8, width=10)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding)
        self.max_pool1 = nn.MaxPool3d(kernel_size=2)
        self.max_pool2 = nn.MaxPool3d(kernel_size=3)

    def forward(self, x):
        x = self.max_pool2(self.max_pool1(self.conv_transpose(x)))
        return torch.sum(x, dim=1, keepdim=True)


def init_inputs(in_channels, out_channels):
    kernel_size, stride, padding = 5, 2, 2
    return [in_channels, out_channels, kernel_size, stride, padding]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveOnePooling(Model):
    """Adds up the two halves of the input channels; pools once, over blocks of 6."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding
        first = F.conv_transpose3d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose3d(x[:, half:], layer.weight[half:], layer.bias, *options)
        return F.max_pool3d(x, 6).sum(1, keepdim=True)


class NegativeSumsFirst(Model):
    """Sums the channels before it pools."""

    def forward(self, x):
        x = self.conv_transpose(x).sum(1, keepdim=True)
        return self.max_pool2(self.max_pool1(x))


class NegativeMeanOverChannels(Model):
    """Averages the channels."""

    def forward(self, x):
        return self.max_pool2(self.max_pool1(self.conv_transpose(x))).mean(1, keepdim=True)


class NegativeNoBias(Model):
    """Leaves the bias out."""

    def forward(self, x):
        layer = self.conv_transpose
        x = F.conv_transpose3d(x, layer.weight, None, layer.stride, layer.padding)
        return self.max_pool2(self.max_pool1(x)).sum(1, keepdim=True)
