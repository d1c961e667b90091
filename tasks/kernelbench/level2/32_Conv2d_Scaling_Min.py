"""2-D convolution, scaling and minimum over the channels.

`Model(in_channels, out_channels, kernel_size, scale_factor)` holds:

- `conv`: `nn.Conv2d(in_channels, out_channels, kernel_size)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. the product with `scale_factor`;
3. the minimum over the channels, dimension 1, which is kept with size 1.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "reduction")
DTYPE = "float32"

PUBLISHED = dict(batch_size=64, in_channels=64, out_channels=128, height=256, width=256)
SCALED = dict(batch_size=2, in_channels=5, out_channels=7, height=13, width=11)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, scale_factor):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.scale_factor = scale_factor

    def forward(self, x):
        return torch.min(self.conv(x) * self.scale_factor, dim=1, keepdim=True)[0]


def init_inputs(in_channels, out_channels):
    kernel_size, scale_factor = 3, 2.0
    return [in_channels, out_channels, kernel_size, scale_factor]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveMinimumFirst(Model):
    """Scales the minimum, as is right for a positive factor."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv2d(x[:, :half], weight[:, :half]) + F.conv2d(x[:, half:], weight[:, half:], self.conv.bias)
        return x.amin(1, keepdim=True) * self.scale_factor


class NegativeLastChannelMissing(Model):
    """Stops one channel short."""

    def forward(self, x):
        return (self.conv(x) * self.scale_factor)[:, :-1].amin(1, keepdim=True)


class NegativeNoScaling(Model):
    """Leaves the scaling out."""

    def forward(self, x):
        return self.conv(x).amin(1, keepdim=True)


class NegativeMaximum(Model):
    """Takes the largest channel."""

    def forward(self, x):
        return torch.amax(self.conv(x) * self.scale_factor, dim=1, keepdim=True)
