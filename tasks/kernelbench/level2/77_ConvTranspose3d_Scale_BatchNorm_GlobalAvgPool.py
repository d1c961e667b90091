"""Transposed 3-D convolution, scaling, batch normalization and global average pooling.

`Model(in_channels, out_channels, kernel_size, scale_factor, eps=1e-5, momentum=0.1)` holds:

- `conv_transpose`: `nn.ConvTranspose3d(in_channels, out_channels, kernel_size)`;
- `batch_norm`: `nn.BatchNorm3d(out_channels, eps=eps, momentum=momentum)`, in training mode: it normalizes each channel
  with the mean and biased variance of the batch at hand; its running statistics do not enter the result;
- `global_avg_pool`: `nn.AdaptiveAvgPool3d((1, 1, 1))`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the transposed convolution: stride 1, no padding, so that each size grows by `kernel_size - 1`;
2. the product with `scale_factor`;
3. the batch normalization over batch, depth, height and width;
4. the mean over depth, height and width, which are kept with size 1: `(batch_size, out_channels, 1, 1, 1)`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution", "normalization")
DTYPE = "float32"

PUBLISHED = dict(batch_size=16, in_channels=64, out_channels=128, depth=16, height=32, width=32)
SCALED = dict(batch_size=3, in_channels=3, out_channels=5, depth=4, height=5, width=6)

# Small inputs leave little more than the convolution's bias: when the normalization has taken that away, its rounding
# errors remain, and those of a running mean, which one lane may keep.
CONTRACT = Close(scale=6.0)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, scale_factor, eps=1e-5, momentum=0.1):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(in_channels, out_channels, kernel_size)
        self.scale_factor = scale_factor
        self.batch_norm = nn.BatchNorm3d(out_channels, eps=eps, momentum=momentum)
        self.global_avg_pool = nn.AdaptiveAvgPool3d((1, 1, 1))

    def forward(self, x):
        x = self.conv_transpose(x) * self.scale_factor
        return self.global_avg_pool(self.batch_norm(x))


def init_inputs(in_channels, out_channels):
    kernel_size, scale_factor = 5, 2.0
    return [in_channels, out_channels, kernel_size, scale_factor]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveMeansFirst(Model):
    """Normalizes the samples' means with the statistics of the batch."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding
        first = F.conv_transpose3d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose3d(x[:, half:], layer.weight[half:], layer.bias, *options)
        x = x * self.scale_factor
        deviation = torch.sqrt(x.var((0, 2, 3, 4), correction=0) + self.batch_norm.eps)
        x = x.mean((2, 3, 4))
        x = (x - x.mean(0)) / deviation * self.batch_norm.weight + self.batch_norm.bias
        return x[:, :, None, None, None]


class NegativeNormalizesMeans(Model):
    """Pools first, then normalizes with the deviation of the means."""

    def forward(self, x):
        x = (self.conv_transpose(x) * self.scale_factor).mean((2, 3, 4), keepdim=True)
        return self.batch_norm(x)


class NegativeNotCentred(Model):
    """Divides by the deviation without taking the mean away."""

    def forward(self, x):
        x = self.conv_transpose(x) * self.scale_factor
        deviation = torch.sqrt(x.var((0, 2, 3, 4), correction=0, keepdim=True) + self.batch_norm.eps)
        return (x / deviation).mean((2, 3, 4), keepdim=True)


class NegativeRunningStatistics(Model):
    """Normalizes with the running statistics, as in evaluation."""

    def forward(self, x):
        layer, x = self.batch_norm, self.conv_transpose(x) * self.scale_factor
        x = F.batch_norm(x, layer.running_mean, layer.running_var, layer.weight, layer.bias, eps=layer.eps)
        return x.mean((2, 3, 4), keepdim=True)
