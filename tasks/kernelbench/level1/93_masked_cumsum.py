"""Cumulative sum of masked elements along one dimension.

`Model(dim)` takes the dimension to run along and has no weights. `forward(x, mask)` takes a float32 tensor `x` and a
boolean tensor `mask`, both of shape `(batch, length)`, and returns a new float32 tensor of the same shape, in which
every element is the sum of those elements of `x` up to and including its place along `dim` where `mask` is true. Places
where `mask` is false get the sum so far. Sums are float32.
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

    def forward(self, x, mask):
        return torch.cumsum(x * mask, dim=self.dim)


def init_inputs(dim):
    return [dim]


def inputs(make, batch, length):
    return call(make.floats(batch, length), make.bools(batch, length))


class PositiveBlocked(Model):
    """Scans blocks of 64 one after the other, each with the last result before it."""

    def forward(self, x, mask):
        carry, parts = 0, []
        for block in torch.where(mask, x, 0.0).split(64, dim=self.dim):
            parts.append(carry + torch.cumsum(block, dim=self.dim))
            carry = parts[-1].narrow(self.dim, block.shape[self.dim] - 1, 1)
        return torch.cat(parts, dim=self.dim)


class NegativeUnmasked(Model):
    """Ignores the mask."""

    def forward(self, x, mask):
        return torch.cumsum(x, dim=self.dim)


class NegativeMaskedResult(Model):
    """Masks the sums instead of the terms."""

    def forward(self, x, mask):
        return torch.cumsum(x, dim=self.dim) * mask


class NegativeInverted(Model):
    """Adds up what the mask hides."""

    def forward(self, x, mask):
        return torch.cumsum(x.masked_fill(mask, 0.0), dim=self.dim)
