"""Softmax of every row of a matrix.

`Model()` has no weights. `forward(x)` takes a float32 tensor of shape `(batch, features)` and returns a new one of the
same shape, softmax along dimension 1: `y[i, j] = exp(x[i, j] - m[i]) / sum over k of exp(x[i, k] - m[i])`, where `m[i]`
is the largest element of row `i`. The maximum must be subtracted, since elements of several hundred are allowed.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("activation", "reduction")
DTYPE = "float32"

PUBLISHED = dict(batch=4096, features=393216)
SCALED = dict(batch=7, features=1021)

# The sum of a row of hundreds of thousands, added up block by block in order, is tens of roundoffs away from PyTorch's.
CONTRACT = Close(growth=4)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=1)


def init_inputs():
    return []


def inputs(make, batch, features):
    return call(make.floats(batch, features))


class PositiveOnline(Model):
    """Running maximum and sum over blocks of 256 columns, as an online softmax keeps them."""

    def forward(self, x):
        top, total = torch.full_like(x[:, :1], float("-inf")), torch.zeros_like(x[:, :1])
        for block in x.split(256, dim=1):
            peak = torch.maximum(top, block.amax(dim=1, keepdim=True))
            total = total * torch.exp(top - peak) + torch.exp(block - peak).sum(dim=1, keepdim=True)
            top = peak
        return torch.exp(x - top) / total


class NegativeWrongDimension(Model):
    """Normalises columns."""

    def forward(self, x):
        return torch.softmax(x, dim=0)


class NegativeBlockwise(Model):
    """Normalises every block of 512 columns by itself, as a kernel that takes a block for a row does."""

    def forward(self, x):
        return torch.cat([torch.softmax(block, dim=1) for block in x.split(512, dim=1)], dim=1)
