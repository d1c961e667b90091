"""Softsign, element by element.

`Model()` has no weights. `forward(x)` takes a float32 tensor of shape `(batch, features)` and returns a new one of the
same shape: `x / (1 + |x|)`, from -1 to 1.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("activation",)
DTYPE = "float32"

PUBLISHED = dict(batch=4096, features=393216)
SCALED = dict(batch=7, features=1021)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.softsign(x)


def init_inputs():
    return []


def inputs(make, batch, features):
    return call(make.floats(batch, features))


class PositiveReciprocal(Model):
    """Multiplies by the reciprocal."""

    def forward(self, x):
        return x * torch.reciprocal(1 + x.abs())


class NegativeTanh(Model):
    """The other curve from -1 to 1."""

    def forward(self, x):
        return torch.tanh(x)


class NegativeSquare(Model):
    """Divides by `sqrt(1 + x * x)`."""

    def forward(self, x):
        return x * torch.rsqrt(1 + x * x)
