"""Position of the largest element along one dimension.

`Model(dim)` takes the dimension to reduce and has no weights. `forward(x)` takes a float32 tensor of shape
`(batch, rows, columns)` and returns the indices of the largest elements along `dim`, a dimension that is removed: int64
of shape `(batch, columns)` for `dim=1`. Where several elements are equal, the first of them counts, the one with the
smallest index; the inputs have such columns, in which the first rows are repeated at the end.
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
        return torch.argmax(x, dim=self.dim)


def init_inputs(dim):
    return [dim]


def inputs(make, batch, rows, columns):
    x, third = make.floats(batch, rows, columns), rows // 3
    if not make.as_published:
        x[:, -third:, ::2] = x[:, :third, ::2]
    return call(x)


class PositiveFirstEqual(Model):
    """Finds the largest value, then the first place that holds it."""

    def forward(self, x):
        best = x == x.amax(dim=self.dim, keepdim=True)
        return best.to(torch.int8).argmax(dim=self.dim)


class NegativeLastEqual(Model):
    """Takes the last of equal elements."""

    def forward(self, x):
        return x.shape[self.dim] - 1 - x.flip(self.dim).argmax(dim=self.dim)


class NegativeAbsolute(Model):
    """Compares absolute values."""

    def forward(self, x):
        return x.abs().argmax(dim=self.dim)
