"""2-D convolution, instance normalization and division by a constant.

`Model(in_channels, out_channels, kernel_size, divide_by)` holds:

- `conv`: `nn.Conv2d(in_channels, out_channels, kernel_size)`;
- `instance_norm`: `nn.InstanceNorm2d(out_channels)`, without parameters and running statistics, `eps = 1e-5`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. the instance normalization: each sample and channel by its own mean and biased variance over height and width;
3. the quotient by `divide_by`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "normalization")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=64, out_channels=128, height=128, width=128)
SCALED = dict(batch_size=2, in_channels=5, out_channels=7, height=13, width=11)

# Small inputs leave little more than the convolution's bias: when the normalization has taken that away, its rounding
# errors remain.
CONTRACT = Close(scale=4.0)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, divide_by):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.instance_norm = nn.InstanceNorm2d(out_channels)
        self.divide_by = divide_by

    def forward(self, x):
        return self.instance_norm(self.conv(x)) / self.divide_by


def init_inputs(in_channels, out_channels):
    kernel_size, divide_by = 3, 2.0
    return [in_channels, out_channels, kernel_size, divide_by]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveTwoPasses(Model):
    """Adds up the two halves of the input channels; mean first, then the variance."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv2d(x[:, :half], weight[:, :half]) + F.conv2d(x[:, half:], weight[:, half:], self.conv.bias)
        x = x - x.mean((2, 3), keepdim=True)
        return x / (self.divide_by * torch.sqrt(x.square().mean((2, 3), keepdim=True) + self.instance_norm.eps))


class NegativeBatchNorm(Model):
    """Takes the statistics over the batch too."""

    def forward(self, x):
        return F.batch_norm(self.conv(x), None, None, training=True) / self.divide_by


class NegativeUnbiasedVariance(Model):
    """Divides the squares by one less than their number."""

    def forward(self, x):
        x = self.conv(x)
        deviation = torch.sqrt(x.var((2, 3), keepdim=True) + self.instance_norm.eps)
        return (x - x.mean((2, 3), keepdim=True)) / deviation / self.divide_by


class NegativeNoDivision(Model):
    """Leaves the division out."""

    def forward(self, x):
        return self.instance_norm(self.conv(x))
