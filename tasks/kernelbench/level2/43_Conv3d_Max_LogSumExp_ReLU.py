"""3-D convolution, max pooling, log-sum-exp over the channels and ReLU.

`Model(in_channels, out_channels, kernel_size, stride, padding)` holds:

- `conv`: `nn.Conv3d(in_channels, out_channels, kernel_size, stride, padding)`;
- `max_pool`: `nn.MaxPool3d(kernel_size=2, stride=2)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the convolution; here it keeps depth, height and width;
2. the largest element of each 2 by 2 by 2 block; what is left over at the ends is dropped;
3. `log(sum(exp(x)))` over the channels, dimension 1, which is kept with size 1;
4. ReLU.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "pooling")
DTYPE = "float32"

PUBLISHED = dict(batch_size=4, in_channels=32, out_channels=64, depth=32, height=128, width=128)
SCALED = dict(batch_size=2, in_channels=3, out_channels=7, depth=7, height=9, width=11)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size, stride, padding)
        self.max_pool = nn.MaxPool3d(kernel_size=2, stride=2)

    def forward(self, x):
        x = self.max_pool(self.conv(x))
        return torch.relu(torch.logsumexp(x, dim=1, keepdim=True))


def init_inputs(in_channels, out_channels):
    kernel_size, stride, padding = 3, 1, 1
    return [in_channels, out_channels, kernel_size, stride, padding]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveWrittenOut(Model):
    """Pads the input by itself and subtracts the largest channel before the exponentials."""

    def forward(self, x):
        layer = self.conv
        x = F.pad(x, [p for p in reversed(layer.padding) for _ in range(2)])
        x = self.max_pool(F.conv3d(x, layer.weight, layer.bias, layer.stride))
        top = x.amax(1, keepdim=True)
        return ((x - top).exp().sum(1, keepdim=True).log() + top).clamp(min=0)


class NegativeAveragePooling(Model):
    """Averages the blocks."""

    def forward(self, x):
        return torch.relu(torch.logsumexp(F.avg_pool3d(self.conv(x), 2), dim=1, keepdim=True))


class NegativeLogMeanExp(Model):
    """Averages the exponentials."""

    def forward(self, x):
        x = self.max_pool(self.conv(x))
        return torch.relu(torch.logsumexp(x, dim=1, keepdim=True) - math.log(x.shape[1]))


class NegativeMaximum(Model):
    """Takes the largest channel for the logarithm of the sum."""

    def forward(self, x):
        return torch.relu(self.max_pool(self.conv(x)).amax(1, keepdim=True))
