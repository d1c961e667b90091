"""Cumulative product along one dimension.

`Model(dim)` takes the dimension to run along and has no weights. `forward(x)` takes a float32 tensor of shape
`(batch, length)` and returns a new one of the same shape, in which every element is the product of the elements of `x`
up to and including its place along `dim`. Products are float32.

The numbers in `x` have absolute values from 0.99 to 1.01 and either sign, so that long products neither overflow nor
vanish.
"""

from itertools import accumulate

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("scan",)
DTYPE = "float32"

PUBLISHED = dict(batch=32768, length=32768, dim=1)
SCALED = dict(batch=9, length=1031, dim=1)

# Thirty thousand factors in order err far more than PyTorch's scan, which is a tree: eight times the usual room.
CONTRACT = Close(growth=8)


class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return torch.cumprod(x, dim=self.dim)


def init_inputs(dim):
    return [dim]


def inputs(make, batch, length):
    if make.as_published:
        return call(make.floats(batch, length))
    size = make.floats(batch, length, low=0.99, high=1.01)
    return call(torch.where(make.bools(batch, length), size, -size))


class PositiveBlocked(Model):
    """Scans blocks of 64 one after the other, each with the last result before it."""

    def forward(self, x):
        carry, parts = 1, []
        for block in x.split(64, dim=self.dim):
            parts.append(carry * torch.cumprod(block, dim=self.dim))
            carry = parts[-1].narrow(self.dim, block.shape[self.dim] - 1, 1)
        return torch.cat(parts, dim=self.dim)


class PositiveSequential(Model):
    """One element after the other, as a thread that walks along its row."""

    def forward(self, x):
        return torch.stack(list(accumulate(x.unbind(self.dim), torch.mul)), dim=self.dim)


class NegativeCarryMissing(Model):
    """Scans every block of 512 by itself."""

    def forward(self, x):
        return torch.cat([torch.cumprod(block, dim=self.dim) for block in x.split(512, dim=self.dim)], dim=self.dim)


class NegativeLogarithms(Model):
    """Adds up logarithms of absolute values and loses the signs."""

    def forward(self, x):
        return torch.exp(torch.cumsum(torch.log(x.abs()), dim=self.dim))


class NegativeWrongDimension(Model):
    """Runs along the other dimension."""

    def forward(self, x):
        return torch.cumprod(x, dim=1 - self.dim)
