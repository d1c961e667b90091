"""2-D convolution, bias, scale, sigmoid and group normalization.

`Model(in_channels, out_channels, kernel_size, num_groups, bias_shape, scale_shape)` holds:

- `conv`: `nn.Conv2d(in_channels, out_channels, kernel_size)`;
- `bias`: a parameter of shape `bias_shape`, drawn from the standard normal distribution;
- `scale`: a parameter of shape `scale_shape`, drawn from the standard normal distribution;
- `group_norm`: `nn.GroupNorm(num_groups, out_channels)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. the sum with `bias`, broadcast over batch and positions;
3. the product with `scale`, broadcast likewise;
4. the logistic function;
5. the group normalization: each sample's groups of `out_channels / num_groups` neighbouring channels, biased variance,
   `eps = 1e-5`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "normalization")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=8, out_channels=32, height=256, width=256)
SCALED = dict(batch_size=2, in_channels=5, out_channels=24, height=13, width=11)
# Of a quarter of a million numbers in a group, one more or less in the variance is no more than rounding.
BESIDE = dict(batch_size=2, height=9, width=7)

# Some inputs make sums far larger than 1. Where these happen to be small, their rounding errors remain, beside results
# of about 1.
CONTRACT = Close(scale=8.0)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, num_groups, bias_shape, scale_shape):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.scale = nn.Parameter(torch.randn(scale_shape))
        self.group_norm = nn.GroupNorm(num_groups, out_channels)

    def forward(self, x):
        x = (self.conv(x) + self.bias) * self.scale
        return self.group_norm(torch.sigmoid(x))


def init_inputs(in_channels, out_channels):
    kernel_size, num_groups = 3, 8
    return [in_channels, out_channels, kernel_size, num_groups, (out_channels, 1, 1), (out_channels, 1, 1)]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveStepByStep(Model):
    """Adds up the two halves of the input channels and normalizes in two passes."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv2d(x[:, :half], weight[:, :half]) + F.conv2d(x[:, half:], weight[:, half:], self.conv.bias)
        x = 1 / (1 + torch.exp(-(x + self.bias) * self.scale))
        groups = x.unflatten(1, (self.group_norm.num_groups, -1)).flatten(2)
        groups = groups - groups.mean(2, keepdim=True)
        x = (groups / torch.sqrt(groups.square().mean(2, keepdim=True) + self.group_norm.eps)).reshape(x.shape)
        return x * self.group_norm.weight[:, None, None] + self.group_norm.bias[:, None, None]


class NegativeScalesFirst(Model):
    """Multiplies before it adds the bias."""

    def forward(self, x):
        return self.group_norm(torch.sigmoid(self.conv(x) * self.scale + self.bias))


class NegativeInstanceNorm(Model):
    """Normalizes every channel by itself."""

    def forward(self, x):
        x = (self.conv(x) + self.bias) * self.scale
        return F.instance_norm(torch.sigmoid(x), eps=self.group_norm.eps)


class NegativeUnbiasedVariance(Model):
    """Divides the squares by one less than their number."""

    def forward(self, x):
        x = torch.sigmoid((self.conv(x) + self.bias) * self.scale)
        groups = x.unflatten(1, (self.group_norm.num_groups, -1)).flatten(2)
        deviation = torch.sqrt(groups.var(2, keepdim=True) + self.group_norm.eps)
        return ((groups - groups.mean(2, keepdim=True)) / deviation).reshape(x.shape)
