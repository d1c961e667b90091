"""2-D convolution, minimum over the channels, then tanh twice.

`Model(in_channels, out_channels, kernel_size)` holds:

- `conv`: `nn.Conv2d(in_channels, out_channels, kernel_size)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. the minimum over the channels, dimension 1, which is kept with size 1;
3. tanh;
4. tanh of that.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "reduction")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=16, out_channels=64, height=256, width=256)
SCALED = dict(batch_size=2, in_channels=5, out_channels=7, height=13, width=11)

# Some inputs make sums far larger than 1. Where these happen to be small, their rounding errors remain, beside results
# of about 1.
CONTRACT = Close(scale=8.0)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)

    def forward(self, x):
        x = torch.min(self.conv(x), dim=1, keepdim=True)[0]
        return torch.tanh(torch.tanh(x))


def init_inputs(in_channels, out_channels):
    kernel_size = 3
    return [in_channels, out_channels, kernel_size]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveMinimumLast(Model):
    """tanh never changes the order: the minimum may come last."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv2d(x[:, :half], weight[:, :half]) + F.conv2d(x[:, half:], weight[:, half:], self.conv.bias)
        return x.tanh().amin(1, keepdim=True).tanh()


class NegativeOnce(Model):
    """Applies tanh once."""

    def forward(self, x):
        return torch.tanh(self.conv(x).amin(1, keepdim=True))


class NegativeLastChannelMissing(Model):
    """Stops one channel short."""

    def forward(self, x):
        return torch.tanh(torch.tanh(self.conv(x)[:, :-1].amin(1, keepdim=True)))


class NegativeMaximum(Model):
    """Takes the largest channel."""

    def forward(self, x):
        return torch.tanh(torch.tanh(self.conv(x).amax(1, keepdim=True)))
