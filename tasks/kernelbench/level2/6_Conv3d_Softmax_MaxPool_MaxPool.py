"""3-D convolution, softmax over the channels, then max pooling twice.

`Model(in_channels, out_channels, kernel_size, pool_kernel_size)` holds:

- `conv`: `nn.Conv3d(in_channels, out_channels, kernel_size)`;
- `pool1`: `nn.MaxPool3d(pool_kernel_size)`;
- `pool2`: `nn.MaxPool3d(pool_kernel_size)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. softmax over the channels, dimension 1;
3. the largest element of each block of `pool_kernel_size` in depth, height and width; what is left over at the ends is
   dropped;
4. the same pooling of the result.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "pooling")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=3, out_channels=16, depth=16, height=32, width=32)
SCALED = dict(batch_size=2, in_channels=3, out_channels=7, depth=10, height=11, width=15)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, pool_kernel_size):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.pool1 = nn.MaxPool3d(pool_kernel_size)
        self.pool2 = nn.MaxPool3d(pool_kernel_size)

    def forward(self, x):
        x = torch.softmax(self.conv(x), dim=1)
        return self.pool2(self.pool1(x))


def init_inputs(in_channels, out_channels):
    kernel_size, pool_kernel_size = 3, 2
    return [in_channels, out_channels, kernel_size, pool_kernel_size]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveOnePooling(Model):
    """Pools once, over blocks of the square of the size."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv3d(x[:, :half], weight[:, :half]) + F.conv3d(x[:, half:], weight[:, half:], self.conv.bias)
        x = (x - x.amax(1, keepdim=True)).exp()
        x = x / x.sum(1, keepdim=True)
        return F.max_pool3d(x, self.pool1.kernel_size**2)


class NegativePoolsFirst(Model):
    """Pools the scores, then takes the softmax."""

    def forward(self, x):
        return torch.softmax(self.pool2(self.pool1(self.conv(x))), dim=1)


class NegativeAveragePooling(Model):
    """Averages the blocks."""

    def forward(self, x):
        x = torch.softmax(self.conv(x), dim=1)
        return F.avg_pool3d(F.avg_pool3d(x, self.pool1.kernel_size), self.pool2.kernel_size)
