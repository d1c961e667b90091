"""Transposed 3-D convolution, ReLU and group normalization.

`Model(in_channels, out_channels, kernel_size, groups, bias=False)` holds:

- `conv_transpose`: `nn.ConvTranspose3d(in_channels, out_channels, kernel_size, bias=bias)`;
- `relu`: `nn.ReLU()`;
- `group_norm`: `nn.GroupNorm(num_groups=groups, num_channels=out_channels)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the transposed convolution: stride 1, no padding, so that each size grows by `kernel_size - 1`; here without a bias;
2. ReLU;
3. the group normalization: each sample's groups of `out_channels / groups` neighbouring channels, biased variance,
   `eps = 1e-5`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution", "normalization")
DTYPE = "float32"

PUBLISHED = dict(batch_size=16, in_channels=64, out_channels=128, depth=32, height=32, width=32)
SCALED = dict(batch_size=2, in_channels=3, out_channels=16, depth=4, height=5, width=6)

# What the normalization takes away is as large as what it leaves.
CONTRACT = Close(scale=2.0)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, groups, bias=False):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, bias=bias)
        self.relu = nn.ReLU()
        self.group_norm = nn.GroupNorm(num_groups=groups, num_channels=out_channels)

    def forward(self, x):
        return self.group_norm(self.relu(self.conv_transpose(x)))


def init_inputs(in_channels, out_channels):
    kernel_size, groups, bias = 3, 8, False
    return [in_channels, out_channels, kernel_size, groups, bias]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveStepByStep(Model):
    """Adds up the two halves of the input channels and normalizes in two passes."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding
        first = F.conv_transpose3d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose3d(x[:, half:], layer.weight[half:], layer.bias, *options)
        x = x.clamp(min=0)
        groups = x.unflatten(1, (self.group_norm.num_groups, -1)).flatten(2)
        groups = groups - groups.mean(2, keepdim=True)
        x = (groups / torch.sqrt(groups.square().mean(2, keepdim=True) + self.group_norm.eps)).reshape(x.shape)
        return x * self.group_norm.weight[:, None, None, None] + self.group_norm.bias[:, None, None, None]


class NegativeNormalizesFirst(Model):
    """Swaps ReLU and the normalization."""

    def forward(self, x):
        return self.relu(self.group_norm(self.conv_transpose(x)))


class NegativeOneGroup(Model):
    """Normalizes all channels of a sample together."""

    def forward(self, x):
        layer = self.group_norm
        return F.group_norm(self.relu(self.conv_transpose(x)), 1, layer.weight, layer.bias, layer.eps)


class NegativeInnerOnly(Model):
    """Computes the positions that a convolution with padding would, and leaves the rim to zeros."""

    def forward(self, x):
        inner = self.conv_transpose(x)[:, :, 1:-1, 1:-1, 1:-1]
        return self.group_norm(self.relu(F.pad(inner, (1,) * 6)))
