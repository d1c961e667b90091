"""Minimum along one dimension, which is removed.

`Model(dim)` takes the dimension to reduce and has no weights. `forward(x)` takes a float32 tensor of shape
`(batch, rows, columns)` and returns the smallest elements along `dim`, a dimension that is removed: `(batch, columns)`
for `dim=1`. Only the values are returned, no indices.
"""

import torch
from torch import nn

from kbx.suite import Exact, call

TAGS = ("reduction",)
DTYPE = "float32"

PUBLISHED = dict(batch=128, rows=4096, columns=4095, dim=1)
SCALED = dict(batch=3, rows=67, columns=45, dim=1)

CONTRACT = Exact()


class Model(nn.Module):
    def __init__(self, dim: int):
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.amin(x, dim=self.dim)


def init_inputs(dim):
    return [dim]


def inputs(make, batch, rows, columns):
    return call(make.floats(batch, rows, columns))


class PositivePairs(Model):
    """Compares slice with slice."""

    def forward(self, x):
        result = x.select(self.dim, 0)
        for piece in x.split(1, dim=self.dim):
            result = torch.minimum(result, piece.squeeze(self.dim))
        return result


class NegativeFirstHalf(Model):
    """Compares the first half of the slices only."""

    def forward(self, x):
        return torch.amin(x.narrow(self.dim, 0, x.shape[self.dim] // 2), dim=self.dim)


class NegativeAbsolute(Model):
    """Compares absolute values."""

    def forward(self, x):
        return torch.amin(x.abs(), dim=self.dim)
