"""Division of every row by its Euclidean norm.

`Model()` has no weights. `forward(x)` takes a float32 matrix of shape `(batch, features)` and returns
`x / sqrt(sum of x**2 along dimension 1)`, of the same shape. Nothing is added to the norm; no row is all zeros.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("normalization", "reduction")
DTYPE = "float32"

PUBLISHED = dict(batch=32768, features=65535)
SCALED = dict(batch=7, features=1021)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / torch.linalg.vector_norm(x, dim=1, keepdim=True)


def init_inputs():
    return []


def inputs(make, batch, features):
    return call(make.floats(batch, features))


class PositiveBlocked(Model):
    """Adds up the squares in blocks of 128 columns, then their sums."""

    def forward(self, x):
        total = sum(block.square().sum(dim=1, keepdim=True) for block in x.split(128, dim=1))
        return x * torch.rsqrt(total)


class NegativeRootMeanSquare(Model):
    """Divides by the root of the mean instead of the sum."""

    def forward(self, x):
        return x / x.square().mean(dim=1, keepdim=True).sqrt()


class NegativeTailMissing(Model):
    """Leaves the columns beyond the last multiple of 128 out of the norm."""

    def forward(self, x):
        whole = x.shape[1] // 128 * 128
        return x / torch.linalg.vector_norm(x[:, :whole], dim=1, keepdim=True)
