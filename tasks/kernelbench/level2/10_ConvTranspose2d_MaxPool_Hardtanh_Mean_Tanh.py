"""Transposed 2-D convolution, max pooling, clamping, mean over the image and tanh.

`Model(in_channels, out_channels, kernel_size, stride, padding, maxpool_kernel_size, maxpool_stride, hardtanh_min,
hardtanh_max)` holds:

- `conv_transpose`: `nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride, padding)`;
- `maxpool`: `nn.MaxPool2d(kernel_size=maxpool_kernel_size, stride=maxpool_stride)`;
- `hardtanh`: `nn.Hardtanh(min_val=hardtanh_min, max_val=hardtanh_max)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the transposed convolution; here it keeps height and width;
2. the largest element of each window; what is left over at the ends is dropped;
3. the clamp to `[hardtanh_min, hardtanh_max]`;
4. the mean over height and width, which are kept with size 1: `(batch_size, out_channels, 1, 1)`;
5. tanh.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution", "pooling")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=64, out_channels=64, height=256, width=256)
SCALED = dict(batch_size=2, in_channels=5, out_channels=7, height=13, width=15)

# A tangent made of exponentials, such as 2σ(2x) - 1, loses what is small against 1.
CONTRACT = Close(scale=1.0)


class Model(nn.Module):
    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride,
        padding,
        maxpool_kernel_size,
        maxpool_stride,
        hardtanh_min,
        hardtanh_max,
    ):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride, padding)
        self.maxpool = nn.MaxPool2d(kernel_size=maxpool_kernel_size, stride=maxpool_stride)
        self.hardtanh = nn.Hardtanh(min_val=hardtanh_min, max_val=hardtanh_max)

    def forward(self, x):
        x = self.hardtanh(self.maxpool(self.conv_transpose(x)))
        return torch.tanh(torch.mean(x, dim=(2, 3), keepdim=True))


def init_inputs(in_channels, out_channels):
    kernel_size, stride, padding = 3, 1, 1
    maxpool_kernel_size, maxpool_stride, hardtanh_min, hardtanh_max = 2, 2, -1, 1
    return [
        in_channels,
        out_channels,
        kernel_size,
        stride,
        padding,
        maxpool_kernel_size,
        maxpool_stride,
        hardtanh_min,
        hardtanh_max,
    ]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveClampsFirst(Model):
    """Clamps before it pools, and averages rows before columns."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding
        first = F.conv_transpose2d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose2d(x[:, half:], layer.weight[half:], layer.bias, *options)
        x = F.max_pool2d(F.hardtanh(x), self.maxpool.kernel_size, self.maxpool.stride)
        return torch.tanh(x.mean(3, keepdim=True).mean(2, keepdim=True))


class NegativeNoClamp(Model):
    """Leaves the clamp out."""

    def forward(self, x):
        return torch.tanh(self.maxpool(self.conv_transpose(x)).mean((2, 3), keepdim=True))


class NegativeAveragePool(Model):
    """Averages the windows."""

    def forward(self, x):
        layer = self.maxpool
        x = self.hardtanh(F.avg_pool2d(self.conv_transpose(x), layer.kernel_size, layer.stride))
        return torch.tanh(x.mean((2, 3), keepdim=True))


class NegativeTanhBeforeMean(Model):
    """Takes tanh of every element, then the mean."""

    def forward(self, x):
        x = torch.tanh(self.hardtanh(self.maxpool(self.conv_transpose(x))))
        return x.mean((2, 3), keepdim=True)
