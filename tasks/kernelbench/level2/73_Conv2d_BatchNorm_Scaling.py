"""2-D convolution, batch normalization and scaling.

`Model(in_channels, out_channels, kernel_size, scaling_factor)` holds:

- `conv`: `nn.Conv2d(in_channels, out_channels, kernel_size)`;
- `bn`: `nn.BatchNorm2d(out_channels)`, in training mode: it normalizes each channel with the mean and biased variance
  of the batch at hand; its running statistics do not enter the result.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. the batch normalization over batch, height and width, `eps = 1e-5`;
3. the product with `scaling_factor`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "normalization")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=8, out_channels=64, height=128, width=128)
SCALED = dict(batch_size=3, in_channels=5, out_channels=7, height=13, width=11)
# Of two million numbers in a channel, one more or less in the variance is no more than rounding.
BESIDE = dict(batch_size=3, height=9, width=7)

# Small inputs leave little more than the convolution's bias: when the normalization has taken that away, its rounding
# errors remain.
CONTRACT = Close(scale=4.0)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, scaling_factor):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.bn = nn.BatchNorm2d(out_channels)
        self.scaling_factor = scaling_factor

    def forward(self, x):
        return self.bn(self.conv(x)) * self.scaling_factor


def init_inputs(in_channels, out_channels):
    kernel_size, scaling_factor = 3, 2.0
    return [in_channels, out_channels, kernel_size, scaling_factor]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveStepByStep(Model):
    """Adds up the two halves of the input channels; mean first, then the variance."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv2d(x[:, :half], weight[:, :half]) + F.conv2d(x[:, half:], weight[:, half:], self.conv.bias)
        x = x - x.mean((0, 2, 3), keepdim=True)
        x = x / torch.sqrt(x.square().mean((0, 2, 3), keepdim=True) + self.bn.eps)
        x = x * self.bn.weight[:, None, None] + self.bn.bias[:, None, None]
        return x * self.scaling_factor


class NegativeScalesFirst(Model):
    """Scales before the normalization, which takes the factor out again."""

    def forward(self, x):
        return self.bn(self.conv(x) * self.scaling_factor)


class NegativeUnbiasedVariance(Model):
    """Divides the squares by one less than their number."""

    def forward(self, x):
        x = self.conv(x)
        deviation = torch.sqrt(x.var((0, 2, 3), keepdim=True) + self.bn.eps)
        return (x - x.mean((0, 2, 3), keepdim=True)) / deviation * self.scaling_factor


class NegativeRunningStatistics(Model):
    """Normalizes with the running statistics, as in evaluation."""

    def forward(self, x):
        layer, x = self.bn, self.conv(x)
        x = F.batch_norm(x, layer.running_mean, layer.running_var, layer.weight, layer.bias, eps=layer.eps)
        return x * self.scaling_factor
