"""Transposed 3-D convolution, Swish, group normalization and Hardswish.

`Model(in_channels, out_channels, kernel_size, stride, padding, groups, eps, bias=True)` holds:

- `conv_transpose`: `nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding, bias=bias)`;
- `group_norm`: `nn.GroupNorm(num_groups=groups, num_channels=out_channels, eps=eps)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the transposed convolution; each size `n` becomes `2 * n - 1`;
2. Swish, `x * sigmoid(x)` with the logistic function;
3. the group normalization: each sample's groups of `out_channels / groups` neighbouring channels, biased variance;
4. `hardswish(x) = x * min(max(x + 3, 0), 6) / 6`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution", "normalization")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=3, out_channels=16, depth=16, height=32, width=32)
SCALED = dict(batch_size=2, in_channels=3, out_channels=12, depth=4, height=5, width=6)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, groups, eps, bias=True):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding, bias=bias)
        self.group_norm = nn.GroupNorm(num_groups=groups, num_channels=out_channels, eps=eps)

    def forward(self, x):
        x = self.conv_transpose(x)
        return F.hardswish(self.group_norm(torch.sigmoid(x) * x))


def init_inputs(in_channels, out_channels):
    kernel_size, stride, padding = 3, 2, 1
    groups, eps = 4, 1e-5
    return [in_channels, out_channels, kernel_size, stride, padding, groups, eps]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveStepByStep(Model):
    """Adds up the two halves of the input channels and normalizes in two passes."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding
        first = F.conv_transpose3d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose3d(x[:, half:], layer.weight[half:], layer.bias, *options)
        x = x / (1 + torch.exp(-x))
        groups = x.unflatten(1, (self.group_norm.num_groups, -1)).flatten(2)
        groups = groups - groups.mean(2, keepdim=True)
        x = (groups / torch.sqrt(groups.square().mean(2, keepdim=True) + self.group_norm.eps)).reshape(x.shape)
        x = x * self.group_norm.weight[:, None, None, None] + self.group_norm.bias[:, None, None, None]
        return x * (x / 6 + 0.5).clamp(0, 1)


class NegativeOneGroup(Model):
    """Normalizes all channels of a sample together."""

    def forward(self, x):
        layer = self.group_norm
        return F.hardswish(F.group_norm(F.silu(self.conv_transpose(x)), 1, layer.weight, layer.bias, layer.eps))


class NegativeNoSwish(Model):
    """Leaves the first activation out."""

    def forward(self, x):
        return F.hardswish(self.group_norm(self.conv_transpose(x)))


class NegativeSwishTwice(Model):
    """Takes Swish for Hardswish."""

    def forward(self, x):
        return F.silu(self.group_norm(F.silu(self.conv_transpose(x))))
