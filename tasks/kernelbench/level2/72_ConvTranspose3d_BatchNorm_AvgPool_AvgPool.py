"""Transposed 3-D convolution, batch normalization, then average pooling twice.

`Model(in_channels, out_channels, kernel_size, stride, padding, bias_shape)` holds (`bias_shape` is not used):

- `conv_transpose`: `nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding)`;
- `batch_norm`: `nn.BatchNorm3d(out_channels)`, in training mode: it normalizes each channel with the mean and biased
  variance of the batch at hand; its running statistics do not enter the result;
- `avg_pool1`: `nn.AvgPool3d(kernel_size=2)`;
- `avg_pool2`: `nn.AvgPool3d(kernel_size=2)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the transposed convolution; each size `n` becomes `2 * n - 1`;
2. the batch normalization over batch, depth, height and width, `eps = 1e-5`;
3. the average of each 2 by 2 by 2 block; what is left over at the ends is dropped;
4. the same pooling of the result.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution", "normalization")
DTYPE = "float32"

PUBLISHED = dict(batch_size=64, in_channels=3, out_channels=16, depth=32, height=32, width=32)
SCALED = dict(batch_size=2, in_channels=3, out_channels=7, depth=5, height=6, width=7)

# Small inputs leave little more than the convolution's bias: when the normalization has taken that away, its rounding
# errors remain, and those of a running mean, which one lane may keep.
CONTRACT = Close(scale=8.0)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, bias_shape):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding)
        self.batch_norm = nn.BatchNorm3d(out_channels)
        self.avg_pool1 = nn.AvgPool3d(kernel_size=2)
        self.avg_pool2 = nn.AvgPool3d(kernel_size=2)

    def forward(self, x):
        x = self.batch_norm(self.conv_transpose(x))
        return self.avg_pool2(self.avg_pool1(x))


def init_inputs(in_channels, out_channels):
    kernel_size, stride, padding = 3, 2, 1
    return [in_channels, out_channels, kernel_size, stride, padding, (out_channels, 1, 1, 1)]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveOnePooling(Model):
    """Adds up the two halves of the input channels; pools once, over blocks of 4."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding
        first = F.conv_transpose3d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose3d(x[:, half:], layer.weight[half:], layer.bias, *options)
        x = x - x.mean((0, 2, 3, 4), keepdim=True)
        x = x / torch.sqrt(x.square().mean((0, 2, 3, 4), keepdim=True) + self.batch_norm.eps)
        x = x * self.batch_norm.weight[:, None, None, None] + self.batch_norm.bias[:, None, None, None]
        return F.avg_pool3d(x, 4)


class NegativePoolsFirst(Model):
    """Normalizes what is already pooled."""

    def forward(self, x):
        x = self.avg_pool2(self.avg_pool1(self.conv_transpose(x)))
        return self.batch_norm(x)


class NegativeInstanceNorm(Model):
    """Normalizes each sample by itself."""

    def forward(self, x):
        x = F.instance_norm(self.conv_transpose(x), eps=self.batch_norm.eps)
        return self.avg_pool2(self.avg_pool1(x))


class NegativeRunningStatistics(Model):
    """Normalizes with the running statistics, as in evaluation."""

    def forward(self, x):
        layer, x = self.batch_norm, self.conv_transpose(x)
        x = F.batch_norm(x, layer.running_mean, layer.running_var, layer.weight, layer.bias, eps=layer.eps)
        return self.avg_pool2(self.avg_pool1(x))
