"""Cumulative sum from the end along one dimension.

`Model(dim)` takes the dimension to run along and has no weights. `forward(x)` takes a float32 tensor of shape
`(batch, length)` and returns a new one of the same shape, in which every element is the sum of the elements of `x` from
its place, this included, to the end of `dim`. Sums are float32.
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
        return torch.cumsum(x.flip(self.dim), dim=self.dim).flip(self.dim)


def init_inputs(dim):
    return [dim]


def inputs(make, batch, length):
    return call(make.floats(batch, length))


class PositiveBlocked(Model):
    """Scans blocks of 64 one after the other, each with the last result before it."""

    def forward(self, x):
        carry, parts = 0, []
        for block in x.flip(self.dim).split(64, dim=self.dim):
            parts.append(carry + torch.cumsum(block, dim=self.dim))
            carry = parts[-1].narrow(self.dim, block.shape[self.dim] - 1, 1)
        return torch.cat(parts, dim=self.dim).flip(self.dim)


class NegativeForward(Model):
    """Runs from the start."""

    def forward(self, x):
        return torch.cumsum(x, dim=self.dim)


class NegativeExclusive(Model):
    """Leaves out the element itself."""

    def forward(self, x):
        return x.sum(dim=self.dim, keepdim=True) - torch.cumsum(x, dim=self.dim)
