"""Swish (sigmoid linear unit), element by element.

`Model()` has no weights. `forward(x)` takes a float32 tensor of shape `(batch, features)` and returns a new one of the
same shape: `x * sigmoid(x) = x / (1 + exp(-x))`. The result is finite for every finite number.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("activation",)
DTYPE = "float32"

PUBLISHED = dict(batch=4096, features=393216)
SCALED = dict(batch=7, features=1021)

# By tanh, halves of x cancel for negative x.
CONTRACT = Close(scale=1.0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.sigmoid(x)


def init_inputs():
    return []


def inputs(make, batch, features):
    return call(make.floats(batch, features))


class PositiveTanh(Model):
    """By `sigmoid(x) = (1 + tanh(x / 2)) / 2`."""

    def forward(self, x):
        half = 0.5 * x
        return half + half * torch.tanh(half)


class NegativeHardSwish(Model):
    """The piecewise form for phones, `x * relu6(x + 3) / 6`."""

    def forward(self, x):
        return F.hardswish(x)


class NegativeSigmoidOnly(Model):
    """Leaves out the product with `x`."""

    def forward(self, x):
        return torch.sigmoid(x)
