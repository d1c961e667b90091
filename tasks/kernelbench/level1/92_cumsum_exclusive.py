"""Exclusive cumulative sum along one dimension.

`Model(dim)` takes the dimension to run along and has no weights. `forward(x)` takes a float32 tensor of shape
`(batch, length)` and returns a new one of the same shape, in which every element is the sum of the elements of `x`
before its place along `dim`, this not included: the first is 0, and the last element of `x` is not used. Sums are
float32.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("scan",)
DTYPE = "float32"

PUBLISHED = dict(batch=32768, length=32768, dim=1)
SCALED = dict(batch=9, length=1031, dim=1)

# Thirty thousand terms added in order err far more than PyTorch's scan, which is a tree: eight times the usual room.
CONTRACT = Close(growth=8)


class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        shifted = x.roll(1, dims=self.dim)
        shifted.select(self.dim, 0).zero_()
        return torch.cumsum(shifted, dim=self.dim)


def init_inputs(dim):
    return [dim]


def inputs(make, batch, length):
    return call(make.floats(batch, length))


class PositiveDifference(Model):
    """The inclusive sum less the element itself."""

    def forward(self, x):
        return torch.cumsum(x, dim=self.dim) - x


class NegativeInclusive(Model):
    """Adds the element itself."""

    def forward(self, x):
        return torch.cumsum(x, dim=self.dim)


class NegativeRolled(Model):
    """Moves the inclusive sums by one place and lets the last wrap around to the first."""

    def forward(self, x):
        return torch.cumsum(x, dim=self.dim).roll(1, dims=self.dim)


class NegativeCarryMissing(Model):
    """Scans every block of 512 by itself."""

    def forward(self, x):
        return torch.cat(
            [torch.cumsum(block, dim=self.dim) - block for block in x.split(512, dim=self.dim)], dim=self.dim
        )
