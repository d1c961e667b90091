"""2-D convolution, tanh, scaling, bias addition and max pooling.

`Model(in_channels, out_channels, kernel_size, scaling_factor, bias_shape, pool_kernel_size)` holds:

- `conv`: `nn.Conv2d(in_channels, out_channels, kernel_size)`;
- `bias`: a parameter of shape `bias_shape`, drawn from the standard normal distribution;
- `max_pool`: `nn.MaxPool2d(pool_kernel_size)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. tanh;
3. the product with `scaling_factor`;
4. the sum with `bias`, broadcast over batch and positions;
5. the largest element of each block of `pool_kernel_size`; what is left over at the ends is dropped.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "pooling")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=8, out_channels=64, height=256, width=256)
SCALED = dict(batch_size=2, in_channels=5, out_channels=7, height=19, width=17)

# Some inputs make sums far larger than 1. Where these happen to be small, their rounding errors remain, beside results
# of about 1.
CONTRACT = Close(scale=8.0)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, scaling_factor, bias_shape, pool_kernel_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.scaling_factor = scaling_factor
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.max_pool = nn.MaxPool2d(pool_kernel_size)

    def forward(self, x):
        x = torch.tanh(self.conv(x)) * self.scaling_factor + self.bias
        return self.max_pool(x)


def init_inputs(in_channels, out_channels):
    kernel_size, scaling_factor, pool_kernel_size = 3, 2.0, 4
    return [in_channels, out_channels, kernel_size, scaling_factor, (out_channels, 1, 1), pool_kernel_size]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositivePoolsFirst(Model):
    """tanh and a positive factor keep the order: pooling may come first."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv2d(x[:, :half], weight[:, :half]) + F.conv2d(x[:, half:], weight[:, half:], self.conv.bias)
        x = F.max_pool2d(x, self.max_pool.kernel_size)
        return (2 * torch.sigmoid(2 * x) - 1) * self.scaling_factor + self.bias


class NegativeBiasBeforeTanh(Model):
    """Adds the bias to the convolution."""

    def forward(self, x):
        return self.max_pool(torch.tanh(self.conv(x) + self.bias) * self.scaling_factor)


class NegativeScalesBias(Model):
    """Adds the bias before scaling."""

    def forward(self, x):
        return self.max_pool((torch.tanh(self.conv(x)) + self.bias) * self.scaling_factor)


class NegativeOtherEnd(Model):
    """Lays the blocks from the other end, so that the first rows and columns are left over."""

    def forward(self, x):
        x = torch.tanh(self.conv(x)) * self.scaling_factor + self.bias
        return self.max_pool(x.flip(2, 3)).flip(2, 3)
