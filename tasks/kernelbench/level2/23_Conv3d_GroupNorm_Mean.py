"""3-D convolution, group normalization and the mean of each sample.

`Model(in_channels, out_channels, kernel_size, num_groups)` holds:

- `conv`: `nn.Conv3d(in_channels, out_channels, kernel_size)`;
- `group_norm`: `nn.GroupNorm(num_groups, out_channels)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. the group normalization: each sample's groups of `out_channels / num_groups` neighbouring channels, biased variance,
   `eps = 1e-5`;
3. the mean over all dimensions but the first: `(batch_size,)`.

Errors are judged relative to the size of what is averaged, 1.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "normalization", "degenerate")
DTYPE = "float32"
# As published the result is rounding noise around 0.
SKIP_CONTROLS = dict.fromkeys(
    ("zeros", "constant", "permuted", "corrupted_1pct", "lower_precision", "tail_missing"),
    "the result is rounding noise around 0",
)

PUBLISHED = dict(batch_size=128, in_channels=3, out_channels=24, depth=24, height=32, width=32)
SCALED = dict(batch_size=3, in_channels=3, out_channels=24, depth=7, height=9, width=11)

# What is averaged is about 1 in size and cancels: the result is rounding noise around the mean of the biases, 0.
CONTRACT = Close(scale=1.0)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, num_groups):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.group_norm = nn.GroupNorm(num_groups, out_channels)

    def forward(self, x):
        return self.group_norm(self.conv(x)).mean(dim=[1, 2, 3, 4])


def init_inputs(in_channels, out_channels):
    kernel_size, num_groups = 3, 8
    return [in_channels, out_channels, kernel_size, num_groups]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveMeanOfBiases(Model):
    """What the normalization has centred adds nothing: the mean of its biases is left."""

    def forward(self, x):
        return self.group_norm.bias.mean().expand(x.shape[0]).clone()


class PositiveStepByStep(Model):
    """Adds up the two halves of the input channels and normalizes in two passes."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv3d(x[:, :half], weight[:, :half]) + F.conv3d(x[:, half:], weight[:, half:], self.conv.bias)
        groups = x.unflatten(1, (self.group_norm.num_groups, -1)).flatten(2)
        groups = groups - groups.mean(2, keepdim=True)
        groups = groups / torch.sqrt(groups.square().mean(2, keepdim=True) + self.group_norm.eps)
        channels = groups.reshape(x.shape).mean((2, 3, 4))
        return (channels * self.group_norm.weight + self.group_norm.bias).mean(1)


class NegativeNotCentred(Model):
    """Divides by the deviation without taking the mean away."""

    def forward(self, x):
        x = self.conv(x)
        groups = x.unflatten(1, (self.group_norm.num_groups, -1)).flatten(2)
        deviation = torch.sqrt(groups.var(2, correction=0, keepdim=True) + self.group_norm.eps)
        return (groups / deviation).mean((1, 2))


class NegativeNoNormalization(Model):
    """Averages the convolution."""

    def forward(self, x):
        return self.conv(x).mean((1, 2, 3, 4))
