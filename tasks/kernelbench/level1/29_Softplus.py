"""Softplus, a smooth ReLU, element by element.

`Model()` has no weights. `forward(x)` takes a float32 tensor of shape `(batch, features)` and returns a new one of the
same shape: `log(1 + exp(x))`, and `x` itself where `x > 20`, where the two agree to float32's precision. The result is
finite for every finite number.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("activation",)
DTYPE = "float32"

PUBLISHED = dict(batch=4096, features=393216)
SCALED = dict(batch=7, features=1021)

# log(1 + exp(x)) errs as 1 does, however small the result is.
CONTRACT = Close(scale=1.0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.softplus(x)


def init_inputs():
    return []


def inputs(make, batch, features):
    return call(make.floats(batch, features))


class PositiveStable(Model):
    """By an exponential that never overflows."""

    def forward(self, x):
        return x.clamp(min=0) + torch.log1p(torch.exp(-x.abs()))


class NegativeLogTwo(Model):
    """Takes a logarithm of base two."""

    def forward(self, x):
        return torch.log2(1 + torch.exp(x.clamp(max=20)))


class NegativeReLU(Model):
    """Leaves out the logarithm that rounds the corner."""

    def forward(self, x):
        return torch.relu(x)
