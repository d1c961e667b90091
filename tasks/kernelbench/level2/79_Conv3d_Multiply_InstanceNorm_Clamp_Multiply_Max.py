"""3-D convolution, multiplication, instance normalization, clamping, multiplication and maximum over the channels.

`Model(in_channels, out_channels, kernel_size, multiplier_shape, clamp_min, clamp_max)` holds:

- `conv`: `nn.Conv3d(in_channels, out_channels, kernel_size)`;
- `multiplier`: a parameter of shape `multiplier_shape`, drawn from the standard normal distribution;
- `instance_norm`: `nn.InstanceNorm3d(out_channels)`, without parameters and running statistics, `eps = 1e-5`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. the product with `multiplier`, broadcast over batch and positions;
3. the instance normalization: each sample and channel by its own mean and biased variance over depth, height and width;
4. the clamp to `[clamp_min, clamp_max]`;
5. the product with `multiplier` again;
6. the maximum over the channels, dimension 1, which is removed.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "normalization")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=3, out_channels=16, depth=16, height=32, width=32)
SCALED = dict(batch_size=2, in_channels=3, out_channels=7, depth=7, height=9, width=11)

# Small inputs leave little more than the convolution's bias: when the normalization has taken that away, its rounding
# errors remain.
CONTRACT = Close(scale=4.0)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, multiplier_shape, clamp_min, clamp_max):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.multiplier = nn.Parameter(torch.randn(multiplier_shape))
        self.instance_norm = nn.InstanceNorm3d(out_channels)
        self.clamp_min = clamp_min
        self.clamp_max = clamp_max

    def forward(self, x):
        x = self.instance_norm(self.conv(x) * self.multiplier)
        x = torch.clamp(x, self.clamp_min, self.clamp_max) * self.multiplier
        return torch.max(x, dim=1)[0]


def init_inputs(in_channels, out_channels):
    kernel_size, clamp_min, clamp_max = 3, -1.0, 1.0
    return [in_channels, out_channels, kernel_size, (out_channels, 1, 1, 1), clamp_min, clamp_max]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveTwoPasses(Model):
    """Adds up the two halves of the input channels; mean first, then the variance."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv3d(x[:, :half], weight[:, :half]) + F.conv3d(x[:, half:], weight[:, half:], self.conv.bias)
        x = x * self.multiplier
        x = x - x.mean((2, 3, 4), keepdim=True)
        x = x / torch.sqrt(x.square().mean((2, 3, 4), keepdim=True) + self.instance_norm.eps)
        return (x.clamp(self.clamp_min, self.clamp_max) * self.multiplier).amax(1)


class NegativeNoFirstProduct(Model):
    """Takes the first factor for something that the normalization cancels: its sign remains."""

    def forward(self, x):
        x = torch.clamp(self.instance_norm(self.conv(x)), self.clamp_min, self.clamp_max)
        return (x * self.multiplier).amax(1)


class NegativeNoSecondProduct(Model):
    """Multiplies once."""

    def forward(self, x):
        x = self.instance_norm(self.conv(x) * self.multiplier)
        return torch.clamp(x, self.clamp_min, self.clamp_max).amax(1)


class NegativeClampLast(Model):
    """Clamps after the second product."""

    def forward(self, x):
        x = self.instance_norm(self.conv(x) * self.multiplier) * self.multiplier
        return torch.clamp(x, self.clamp_min, self.clamp_max).amax(1)
