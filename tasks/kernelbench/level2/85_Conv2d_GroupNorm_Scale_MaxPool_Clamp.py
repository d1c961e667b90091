"""2-D convolution, group normalization, scaling, max pooling and clamping.

`Model(in_channels, out_channels, kernel_size, num_groups, scale_shape, maxpool_kernel_size, clamp_min, clamp_max)`
holds:

- `conv`: `nn.Conv2d(in_channels, out_channels, kernel_size)`;
- `group_norm`: `nn.GroupNorm(num_groups, out_channels)`;
- `scale`: a parameter of shape `scale_shape`, ones;
- `maxpool`: `nn.MaxPool2d(kernel_size=maxpool_kernel_size)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. the group normalization: each sample's groups of `out_channels / num_groups` neighbouring channels, biased variance,
   `eps = 1e-5`;
3. the product with `scale`, broadcast over batch and positions;
4. the largest element of each block of `maxpool_kernel_size`; what is left over at the ends is dropped;
5. the clamp to `[clamp_min, clamp_max]`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "normalization")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=8, out_channels=64, height=128, width=128)
SCALED = dict(batch_size=2, in_channels=5, out_channels=32, height=13, width=11)

# Small inputs leave little more than the convolution's bias: when the normalization has taken that away, its rounding
# errors remain.
CONTRACT = Close(scale=4.0)


class Model(nn.Module):
    def __init__(
        self, in_channels, out_channels, kernel_size, num_groups, scale_shape, maxpool_kernel_size, clamp_min, clamp_max
    ):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.group_norm = nn.GroupNorm(num_groups, out_channels)
        self.scale = nn.Parameter(torch.ones(scale_shape))
        self.maxpool = nn.MaxPool2d(kernel_size=maxpool_kernel_size)
        self.clamp_min = clamp_min
        self.clamp_max = clamp_max

    def forward(self, x):
        x = self.maxpool(self.group_norm(self.conv(x)) * self.scale)
        return torch.clamp(x, self.clamp_min, self.clamp_max)


def init_inputs(in_channels, out_channels):
    kernel_size = 3
    num_groups, maxpool_kernel_size, clamp_min, clamp_max = 16, 4, 0.0, 1.0
    return [
        in_channels,
        out_channels,
        kernel_size,
        num_groups,
        (out_channels, 1, 1),
        maxpool_kernel_size,
        clamp_min,
        clamp_max,
    ]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveStepByStep(Model):
    """Adds up the two halves of the input channels and clamps before it pools."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv2d(x[:, :half], weight[:, :half]) + F.conv2d(x[:, half:], weight[:, half:], self.conv.bias)
        groups = x.unflatten(1, (self.group_norm.num_groups, -1)).flatten(2)
        groups = groups - groups.mean(2, keepdim=True)
        x = (groups / torch.sqrt(groups.square().mean(2, keepdim=True) + self.group_norm.eps)).reshape(x.shape)
        x = x * self.group_norm.weight[:, None, None] + self.group_norm.bias[:, None, None]
        x = (x * self.scale).clamp(self.clamp_min, self.clamp_max)
        return F.max_pool2d(x, self.maxpool.kernel_size)


class NegativeInstanceNorm(Model):
    """Normalizes every channel by itself."""

    def forward(self, x):
        x = F.instance_norm(self.conv(x), eps=self.group_norm.eps) * self.scale
        return torch.clamp(self.maxpool(x), self.clamp_min, self.clamp_max)


class NegativeAveragePool(Model):
    """Averages the blocks."""

    def forward(self, x):
        x = F.avg_pool2d(self.group_norm(self.conv(x)) * self.scale, self.maxpool.kernel_size)
        return torch.clamp(x, self.clamp_min, self.clamp_max)


class NegativeNoClamp(Model):
    """Leaves the clamp out."""

    def forward(self, x):
        return self.maxpool(self.group_norm(self.conv(x)) * self.scale)
