"""Hyperbolic tangent, element by element.

`Model()` has no weights. `forward(x)` takes a float32 tensor of shape `(batch, features)` and returns a new one of the
same shape: `(exp(x) - exp(-x)) / (exp(x) + exp(-x))`, from -1 to 1. Numbers of any size are allowed: the result never
is NaN.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("activation",)
DTYPE = "float32"

PUBLISHED = dict(batch=4096, features=393216)
SCALED = dict(batch=7, features=1021)

# Formulas add and subtract numbers near 1, however small the result is.
CONTRACT = Close(scale=1.0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x)


def init_inputs():
    return []


def inputs(make, batch, features):
    return call(make.floats(batch, features))


class PositiveExponential(Model):
    """One exponential of a negative number."""

    def forward(self, x):
        e = torch.exp(-2 * x.abs())
        return torch.sign(x) * (1 - e) / (1 + e)


class NegativeRational(Model):
    """The quotient of polynomials that is close to `tanh` near 0 only."""

    def forward(self, x):
        return (x * (27 + x * x) / (27 + 9 * x * x)).clamp(-1, 1)


class NegativeSigmoid(Model):
    """Forgets to stretch the sigmoid from `(0, 1)` to `(-1, 1)`."""

    def forward(self, x):
        return torch.sigmoid(2 * x)
