"""Logistic sigmoid, element by element.

`Model()` has no weights. `forward(x)` takes a float32 tensor of shape `(batch, features)` and returns a new one of the
same shape: `1 / (1 + exp(-x))`, from 0 to 1. Numbers of any size are allowed: the result never is NaN.
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
        return torch.sigmoid(x)


def init_inputs():
    return []


def inputs(make, batch, features):
    return call(make.floats(batch, features))


class PositiveTanh(Model):
    """By `sigmoid(x) = (1 + tanh(x / 2)) / 2`."""

    def forward(self, x):
        return 0.5 + 0.5 * torch.tanh(0.5 * x)


class NegativeRational(Model):
    """A cheap curve of similar form without an exponential."""

    def forward(self, x):
        return 0.5 + 0.5 * x / (1 + x.abs())


class NegativeSign(Model):
    """`exp(x)` in place of `exp(-x)`."""

    def forward(self, x):
        return 1 / (1 + torch.exp(x))
