"""3-D convolution, minimum over the depth and softmax over the channels.

`Model(in_channels, out_channels, kernel_size, dim)` holds:

- `conv`: `nn.Conv3d(in_channels, out_channels, kernel_size)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. the minimum over dimension `dim`, here the depth, which is removed;
3. softmax over the channels, dimension 1.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "reduction")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=3, out_channels=24, depth=24, height=32, width=32)
SCALED = dict(batch_size=2, in_channels=3, out_channels=7, depth=9, height=11, width=13)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, dim):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.dim = dim

    def forward(self, x):
        x = torch.min(self.conv(x), dim=self.dim)[0]
        return torch.softmax(x, dim=1)


def init_inputs(in_channels, out_channels):
    kernel_size, dim = 3, 2
    return [in_channels, out_channels, kernel_size, dim]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveSplitChannels(Model):
    """Adds up the two halves of the input channels; softmax written out."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv3d(x[:, :half], weight[:, :half]) + F.conv3d(x[:, half:], weight[:, half:], self.conv.bias)
        x = x.amin(self.dim)
        x = (x - x.amax(1, keepdim=True)).exp()
        return x / x.sum(1, keepdim=True)


class NegativeMaximum(Model):
    """Takes the largest element."""

    def forward(self, x):
        return torch.softmax(self.conv(x).amax(self.dim), dim=1)


class NegativeSoftmaxOverRows(Model):
    """Normalizes over the height."""

    def forward(self, x):
        return torch.softmax(self.conv(x).amin(self.dim), dim=2)


class NegativeLastPlaneMissing(Model):
    """Stops one plane short."""

    def forward(self, x):
        x = self.conv(x)
        return torch.softmax(x.narrow(self.dim, 0, x.shape[self.dim] - 1).amin(self.dim), dim=1)
