"""Division of every row by the mean of its absolute values.

`Model()` has no weights. `forward(x)` takes a float32 matrix of shape `(batch, features)` and returns
`x / mean of |x| along dimension 1`, of the same shape. It is the mean that divides, not the sum: every row of the
result has mean absolute value 1.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("normalization", "reduction")
DTYPE = "float32"

PUBLISHED = dict(batch=32768, features=65535)
SCALED = dict(batch=7, features=1021)

# The sum of a row, all of one sign, may be added up in order: kbx.suite.in_order of a thousand terms.
CONTRACT = Close(growth=2)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / x.abs().mean(dim=1, keepdim=True)


def init_inputs():
    return []


def inputs(make, batch, features):
    return call(make.floats(batch, features))


class PositiveBlocked(Model):
    """Adds up blocks of 128 columns, then their sums."""

    def forward(self, x):
        total = sum(block.abs().sum(dim=1, keepdim=True) for block in x.split(128, dim=1))
        return x * (x.shape[1] / total)


class NegativeSum(Model):
    """Divides by the sum of absolute values."""

    def forward(self, x):
        return x / x.abs().sum(dim=1, keepdim=True)


class NegativeWrongDimension(Model):
    """Takes the mean of every column."""

    def forward(self, x):
        return x / x.abs().mean(dim=0, keepdim=True)
