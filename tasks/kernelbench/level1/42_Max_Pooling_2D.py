"""Maximum over square windows of an image.

`Model(kernel_size, stride, padding, dilation)` has no weights; each argument holds for both dimensions.

`forward(x)` takes float32 `x` of shape `(batch, channels, height, width)` and returns, for every place `(i, j)` of the
output, the maximum of `x[..., i * stride - padding + u * dilation, j * stride - padding + v * dilation]` over `u` and
`v` from 0 to `kernel_size - 1`. Places outside of `x` count as minus infinity. The output's height is
`floor((height + 2 * padding - dilation * (kernel_size - 1) - 1) / stride) + 1`, its width likewise. In this task
windows are 4 by 4, stride, padding and dilation 1.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Exact, call

TAGS = ("pooling",)
DTYPE = "float32"

PUBLISHED = dict(batch=32, channels=64, height=512, width=512, kernel_size=4, stride=1, padding=1, dilation=1)
SCALED = dict(batch=2, channels=5, height=29, width=37, kernel_size=4, stride=1, padding=1, dilation=1)

CONTRACT = Exact()


class Model(nn.Module):
    def __init__(self, kernel_size: int, stride: int, padding: int, dilation: int):
        super().__init__()
        self.maxpool = nn.MaxPool2d(kernel_size, stride, padding, dilation)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.maxpool(x)


def init_inputs(kernel_size, stride, padding, dilation):
    return [kernel_size, stride, padding, dilation]


def inputs(make, batch, channels, height, width):
    return call(make.floats(batch, channels, height, width))


class PositiveSeparable(Model):
    """Pools the columns, then the rows."""

    def forward(self, x):
        pool = self.maxpool
        k, s, p, d = pool.kernel_size, pool.stride, pool.padding, pool.dilation
        columns = F.max_pool2d(x, (k, 1), (s, 1), (p, 0), (d, 1))
        return F.max_pool2d(columns, (1, k), (1, s), (0, p), (1, d))


class NegativePaddedAtTheStart(Model):
    """Takes all of the padding at the top and at the left."""

    def forward(self, x):
        pool = self.maxpool
        padded = F.pad(x, (2 * pool.padding, 0, 2 * pool.padding, 0), value=float("-inf"))
        return F.max_pool2d(padded, pool.kernel_size, pool.stride, 0, pool.dilation)


class NegativeShortWindow(Model):
    """Leaves the last row and column out of every window."""

    def forward(self, x):
        pool = self.maxpool
        padded = F.pad(x, (pool.padding, pool.padding - 1, pool.padding, pool.padding - 1), value=float("-inf"))
        return F.max_pool2d(padded, pool.kernel_size - 1, pool.stride, 0, pool.dilation)
