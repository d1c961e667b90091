"""Mean along one dimension, which is removed.

`Model(dim)` takes the dimension to reduce and has no weights. `forward(x)` takes a float32 tensor of shape
`(batch, rows, columns)` and returns the means along `dim`, a dimension that is removed: `(batch, columns)` for `dim=1`.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("reduction",)
DTYPE = "float32"

PUBLISHED = dict(batch=128, rows=4096, columns=4095, dim=1)
SCALED = dict(batch=3, rows=67, columns=45, dim=1)

# Thousands of terms added in order err more than PyTorch's sum, which is a tree: four times the usual room.
CONTRACT = Close(growth=4)


class Model(nn.Module):
    def __init__(self, dim: int):
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.mean(x, dim=self.dim)


def init_inputs(dim):
    return [dim]


def inputs(make, batch, rows, columns):
    return call(make.floats(batch, rows, columns))


class PositiveBlocked(Model):
    """Adds up every 64 slices, then their sums, and divides once."""

    def forward(self, x):
        return sum(block.sum(dim=self.dim) for block in x.split(64, dim=self.dim)) / x.shape[self.dim]


class PositiveSequential(Model):
    """One slice after the other, as a thread that walks down its column."""

    def forward(self, x):
        return sum(x.unbind(self.dim)) / x.shape[self.dim]


class NegativeSum(Model):
    """Forgets to divide."""

    def forward(self, x):
        return torch.sum(x, dim=self.dim)


class NegativeOtherCount(Model):
    """Divides by the size of the last dimension."""

    def forward(self, x):
        return torch.sum(x, dim=self.dim) / x.shape[2]
