"""3-D convolution, Hardswish, group normalization and the mean of each channel.

`Model(in_channels, out_channels, kernel_size, num_groups=4, bias=True)` holds:

- `conv`: `nn.Conv3d(in_channels, out_channels, kernel_size, bias=bias)`;
- `group_norm`: `nn.GroupNorm(num_groups, out_channels)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. `hardswish(x) = x * min(max(x + 3, 0), 6) / 6`;
3. the group normalization: each sample's groups of `out_channels / num_groups` neighbouring channels, biased variance,
   `eps = 1e-5`;
4. the mean over depth, height and width: `(batch_size, out_channels)`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "normalization")
DTYPE = "float32"

PUBLISHED = dict(batch_size=1024, in_channels=3, out_channels=16, depth=16, height=32, width=32)
SCALED = dict(batch_size=2, in_channels=3, out_channels=12, depth=7, height=9, width=11)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, num_groups=4, bias=True):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size, bias=bias)
        self.group_norm = nn.GroupNorm(num_groups, out_channels)

    def forward(self, x):
        x = self.group_norm(F.hardswish(self.conv(x)))
        return torch.mean(x, dim=[2, 3, 4])


def init_inputs(in_channels, out_channels):
    kernel_size = 4
    return [in_channels, out_channels, kernel_size]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveMeansFirst(Model):
    """Normalizes the channels' means with the groups' statistics."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv3d(x[:, :half], weight[:, :half]) + F.conv3d(x[:, half:], weight[:, half:], self.conv.bias)
        x = x * (x / 6 + 0.5).clamp(0, 1)
        groups = x.unflatten(1, (self.group_norm.num_groups, -1))
        deviation = torch.sqrt(groups.flatten(2).var(2, correction=0) + self.group_norm.eps)
        means = groups.flatten(3).mean(3)
        means = (means - means.mean(2, keepdim=True)) / deviation[:, :, None]
        return means.flatten(1) * self.group_norm.weight + self.group_norm.bias


class NegativeNormalizesFirst(Model):
    """Swaps Hardswish and the normalization."""

    def forward(self, x):
        return F.hardswish(self.group_norm(self.conv(x))).mean((2, 3, 4))


class NegativeSiLU(Model):
    """Takes SiLU for Hardswish."""

    def forward(self, x):
        return self.group_norm(F.silu(self.conv(x))).mean((2, 3, 4))


class NegativeOneGroup(Model):
    """Normalizes all channels of a sample together."""

    def forward(self, x):
        x = F.group_norm(
            F.hardswish(self.conv(x)), 1, self.group_norm.weight, self.group_norm.bias, self.group_norm.eps
        )
        return x.mean((2, 3, 4))
