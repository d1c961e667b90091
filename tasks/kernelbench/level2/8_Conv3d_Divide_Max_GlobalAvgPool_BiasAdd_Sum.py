"""3-D convolution, division, max pooling, global average pooling, bias addition and a sum over the channels.

`Model(in_channels, out_channels, kernel_size, divisor, pool_size, bias_shape, sum_dim)` holds:

- `conv`: `nn.Conv3d(in_channels, out_channels, kernel_size)`;
- `max_pool`: `nn.MaxPool3d(pool_size)`;
- `global_avg_pool`: `nn.AdaptiveAvgPool3d((1, 1, 1))`;
- `bias`: a parameter of shape `bias_shape`, drawn from the standard normal distribution.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. the quotient by `divisor`;
3. the largest element of each block of `pool_size`; what is left over at the ends is dropped;
4. the mean of each channel over depth, height and width, which are kept with size 1;
5. the sum with `bias`, broadcast over the batch;
6. the sum over dimension `sum_dim`, here the channels, which is removed: `(batch_size, 1, 1, 1)`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "pooling")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=8, out_channels=16, depth=16, height=64, width=64)
SCALED = dict(batch_size=3, in_channels=3, out_channels=7, depth=7, height=9, width=11)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, divisor, pool_size, bias_shape, sum_dim):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.divisor = divisor
        self.max_pool = nn.MaxPool3d(pool_size)
        self.global_avg_pool = nn.AdaptiveAvgPool3d((1, 1, 1))
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.sum_dim = sum_dim

    def forward(self, x):
        x = self.max_pool(self.conv(x) / self.divisor)
        x = self.global_avg_pool(x) + self.bias
        return torch.sum(x, dim=self.sum_dim)


def init_inputs(in_channels, out_channels):
    kernel_size, divisor, pool_size, sum_dim = (3, 3, 3), 2.0, (2, 2, 2), 1
    return [in_channels, out_channels, kernel_size, divisor, pool_size, (out_channels, 1, 1, 1), sum_dim]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveLateDivision(Model):
    """Divides the means, and sums the bias apart."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv3d(x[:, :half], weight[:, :half]) + F.conv3d(x[:, half:], weight[:, half:], self.conv.bias)
        x = F.max_pool3d(x, self.max_pool.kernel_size).mean((2, 3, 4), keepdim=True) / self.divisor
        return x.sum(self.sum_dim) + self.bias.sum()


class NegativeNoDivision(Model):
    """Leaves the division out."""

    def forward(self, x):
        x = self.global_avg_pool(self.max_pool(self.conv(x))) + self.bias
        return torch.sum(x, dim=self.sum_dim)


class NegativeNoMaxPool(Model):
    """Averages everything, without the pooling before."""

    def forward(self, x):
        x = self.global_avg_pool(self.conv(x) / self.divisor) + self.bias
        return torch.sum(x, dim=self.sum_dim)


class NegativeMeanOverChannels(Model):
    """Averages over the channels instead of summing."""

    def forward(self, x):
        x = self.global_avg_pool(self.max_pool(self.conv(x) / self.divisor)) + self.bias
        return torch.mean(x, dim=self.sum_dim)
