"""Transposed 2-D convolution, GELU and group normalization.

`Model(in_channels, out_channels, kernel_size, stride, groups, num_groups)` holds (`groups` is not used):

- `conv_transpose`: `nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride=stride)`;
- `group_norm`: `nn.GroupNorm(num_groups=num_groups, num_channels=out_channels)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the transposed convolution, no padding, not grouped;
2. the exact GELU, `0.5 * x * (1 + erf(x / sqrt(2)))`;
3. the group normalization: each sample's groups of `out_channels / num_groups` neighbouring channels, biased variance,
   `eps = 1e-5`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution", "normalization")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=64, out_channels=64, height=256, width=256)
SCALED = dict(batch_size=2, in_channels=5, out_channels=24, height=9, width=11)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, groups, num_groups):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride=stride)
        self.group_norm = nn.GroupNorm(num_groups=num_groups, num_channels=out_channels)

    def forward(self, x):
        return self.group_norm(F.gelu(self.conv_transpose(x)))


def init_inputs(in_channels, out_channels):
    kernel_size, stride, groups, num_groups = 3, 1, 8, 8
    return [in_channels, out_channels, kernel_size, stride, groups, num_groups]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveStepByStep(Model):
    """Adds up the two halves of the input channels and normalizes in two passes."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding
        first = F.conv_transpose2d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose2d(x[:, half:], layer.weight[half:], layer.bias, *options)
        x = 0.5 * x * (1 + torch.erf(x * 0.5**0.5))
        groups = x.unflatten(1, (self.group_norm.num_groups, -1)).flatten(2)
        groups = groups - groups.mean(2, keepdim=True)
        x = (groups / torch.sqrt(groups.square().mean(2, keepdim=True) + self.group_norm.eps)).reshape(x.shape)
        return x * self.group_norm.weight[:, None, None] + self.group_norm.bias[:, None, None]


class NegativeTanhGELU(Model):
    """The tanh approximation of GELU."""

    def forward(self, x):
        return self.group_norm(F.gelu(self.conv_transpose(x), approximate="tanh"))


class NegativeInstanceNorm(Model):
    """Normalizes every channel by itself."""

    def forward(self, x):
        return F.instance_norm(F.gelu(self.conv_transpose(x)), eps=self.group_norm.eps)


class NegativeNormalizesFirst(Model):
    """Swaps the last two steps."""

    def forward(self, x):
        return F.gelu(self.group_norm(self.conv_transpose(x)))
