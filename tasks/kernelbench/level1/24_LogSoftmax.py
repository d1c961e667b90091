"""Logarithm of the softmax of a matrix.

`Model(dim=1)` takes the dimension along which the softmax is made; it has no weights. `forward(x)` takes a float32
matrix of shape `(batch, features)` and returns a new one of the same shape, `x - m - log(sum of exp(x - m))`, where `m`
is the largest element along `dim` and the sum runs along `dim`. The maximum must be subtracted, since elements of
several hundred are allowed, and the logarithm of a softmax that underflows is no substitute.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("activation", "reduction")
DTYPE = "float32"

PUBLISHED = dict(batch=4096, features=393216)
SCALED = dict(batch=7, features=1021)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, dim: int = 1):
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.log_softmax(x, dim=self.dim)


def init_inputs():
    return []


def inputs(make, batch, features):
    return call(make.floats(batch, features))


class PositiveTwoPasses(Model):
    """Maximum and sum over blocks of 256, then the difference."""

    def forward(self, x):
        blocks = x.split(256, dim=self.dim)
        top = torch.stack([block.amax(dim=self.dim, keepdim=True) for block in blocks]).amax(dim=0)
        total = torch.stack([torch.exp(block - top).sum(dim=self.dim, keepdim=True) for block in blocks]).sum(dim=0)
        return (x - top) - torch.log(total)


class NegativeWrongDimension(Model):
    """Normalises along the other dimension."""

    def forward(self, x):
        return torch.log_softmax(x, dim=1 - self.dim)


class NegativeMaximumForgotten(Model):
    """Does not give the subtracted maximum back to the logarithm of the sum."""

    def forward(self, x):
        top = x.amax(dim=self.dim, keepdim=True)
        return x - torch.log(torch.exp(x - top).sum(dim=self.dim, keepdim=True))
