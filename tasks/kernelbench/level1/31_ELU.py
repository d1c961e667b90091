"""Exponential linear unit (ELU), element by element.

`Model(alpha=1.0)` has no weights. `forward(x)` takes a float32 tensor of shape `(batch, features)` and returns a new
one of the same shape: `x` where `x > 0` and `alpha * (exp(x) - 1)` elsewhere. The result is finite for every finite
number.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("activation",)
DTYPE = "float32"

PUBLISHED = dict(batch=4096, features=393216)
SCALED = dict(batch=7, features=1021)

# exp(x) - 1 cancels for small x.
CONTRACT = Close(scale=1.0)


class Model(nn.Module):
    def __init__(self, alpha: float = 1.0):
        super().__init__()
        self.alpha = alpha

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.elu(x, self.alpha)


def init_inputs():
    return [1.0]


def inputs(make, batch, features):
    return call(make.floats(batch, features))


class PositiveSum(Model):
    """The sum of the two branches, each 0 where the other holds."""

    def forward(self, x):
        return x.clamp(min=0) + self.alpha * (torch.exp(x.clamp(max=0)) - 1)


class NegativeSELU(Model):
    """The constants of SELU."""

    def forward(self, x):
        return F.selu(x)


class NegativeShifted(Model):
    """Forgets to subtract 1."""

    def forward(self, x):
        return torch.where(x > 0, x, self.alpha * torch.exp(x))
