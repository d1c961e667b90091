"""2-D convolution, average pooling, sigmoid and the sum of each sample.

`Model(in_channels, out_channels, kernel_size, pool_kernel_size)` holds:

- `conv`: `nn.Conv2d(in_channels, out_channels, kernel_size)`;
- `avg_pool`: `nn.AvgPool2d(pool_kernel_size)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. the average of each block of `pool_kernel_size`; what is left over at the ends is dropped;
3. the logistic function;
4. the sum over all dimensions but the first: `(batch_size,)`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "pooling")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=8, out_channels=64, height=384, width=384)
SCALED = dict(batch_size=3, in_channels=5, out_channels=7, height=19, width=17)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, pool_kernel_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.avg_pool = nn.AvgPool2d(pool_kernel_size)

    def forward(self, x):
        x = torch.sigmoid(self.avg_pool(self.conv(x)))
        return torch.sum(x, dim=[1, 2, 3])


def init_inputs(in_channels, out_channels):
    kernel_size, pool_kernel_size = 3, 4
    return [in_channels, out_channels, kernel_size, pool_kernel_size]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveTanh(Model):
    """Adds up the two halves of the input channels; the logistic function as `(1 + tanh(x / 2)) / 2`."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv2d(x[:, :half], weight[:, :half]) + F.conv2d(x[:, half:], weight[:, half:], self.conv.bias)
        x = torch.tanh(0.5 * F.avg_pool2d(x, self.avg_pool.kernel_size))
        return 0.5 * (1 + x).sum(3).sum(2).sum(1)


class NegativeSigmoidFirst(Model):
    """Swaps the pooling and the logistic function."""

    def forward(self, x):
        return self.avg_pool(torch.sigmoid(self.conv(x))).sum((1, 2, 3))


class NegativeMaxPool(Model):
    """Takes the largest element of each block."""

    def forward(self, x):
        return torch.sigmoid(F.max_pool2d(self.conv(x), self.avg_pool.kernel_size)).sum((1, 2, 3))


class NegativeCeilMode(Model):
    """Pools what is left over at the ends too."""

    def forward(self, x):
        x = F.avg_pool2d(self.conv(x), self.avg_pool.kernel_size, ceil_mode=True)
        return torch.sigmoid(x).sum((1, 2, 3))
