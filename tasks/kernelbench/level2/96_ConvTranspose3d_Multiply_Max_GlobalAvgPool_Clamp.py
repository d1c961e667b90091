"""Transposed 3-D convolution, multiplication, max pooling, global average pooling and clamping.

`Model(in_channels, out_channels, kernel_size, stride, padding, scale, maxpool_kernel_size)` holds:

- `conv_transpose`: `nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding)`;
- `maxpool`: `nn.MaxPool3d(kernel_size=maxpool_kernel_size)`;
- `global_avg_pool`: `nn.AdaptiveAvgPool3d((1, 1, 1))`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the transposed convolution; each size `n` becomes `2 * n - 1`;
2. the product with `scale`;
3. the largest element of each block of `maxpool_kernel_size`; what is left over at the ends is dropped;
4. the mean over depth, height and width, which are kept with size 1: `(batch_size, out_channels, 1, 1, 1)`;
5. the clamp to `[0, 1]`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution", "pooling")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=3, out_channels=16, depth=16, height=32, width=32)
SCALED = dict(batch_size=3, in_channels=3, out_channels=7, depth=5, height=6, width=7)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, scale, maxpool_kernel_size):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding)
        self.scale = scale
        self.maxpool = nn.MaxPool3d(kernel_size=maxpool_kernel_size)
        self.global_avg_pool = nn.AdaptiveAvgPool3d((1, 1, 1))

    def forward(self, x):
        x = self.maxpool(self.conv_transpose(x) * self.scale)
        return torch.clamp(self.global_avg_pool(x), min=0, max=1)


def init_inputs(in_channels, out_channels):
    kernel_size, stride, padding = 3, 2, 1
    scale, maxpool_kernel_size = 0.5, 2
    return [in_channels, out_channels, kernel_size, stride, padding, scale, maxpool_kernel_size]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveScalesLast(Model):
    """Scales the means, as is right for a positive factor."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding
        first = F.conv_transpose3d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose3d(x[:, half:], layer.weight[half:], layer.bias, *options)
        x = F.max_pool3d(x, self.maxpool.kernel_size).mean((2, 3, 4), keepdim=True)
        return (x * self.scale).clamp(0, 1)


class NegativeNoFactor(Model):
    """Leaves the factor out."""

    def forward(self, x):
        return torch.clamp(self.global_avg_pool(self.maxpool(self.conv_transpose(x))), 0, 1)


class NegativeNoMaxPool(Model):
    """Averages everything, without the pooling before."""

    def forward(self, x):
        return torch.clamp(self.global_avg_pool(self.conv_transpose(x) * self.scale), 0, 1)


class NegativeClampFirst(Model):
    """Clamps before it averages."""

    def forward(self, x):
        x = torch.clamp(self.maxpool(self.conv_transpose(x) * self.scale), 0, 1)
        return self.global_avg_pool(x)
