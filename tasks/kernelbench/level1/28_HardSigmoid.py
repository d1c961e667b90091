"""Sigmoid made of three straight lines, element by element.

`Model()` has no weights. `forward(x)` takes a float32 tensor of shape `(batch, features)` and returns a new one of the
same shape: `min(max(x + 3, 0), 6) / 6`, which is 0 up to -3, 1 from 3 on, and `x / 6 + 1 / 2` between.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("activation",)
DTYPE = "float32"

PUBLISHED = dict(batch=4096, features=393216)
SCALED = dict(batch=7, features=1021)

# The line adds 1/2 to a number that may be close to -1/2.
CONTRACT = Close(scale=1.0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.hardsigmoid(x)


def init_inputs():
    return []


def inputs(make, batch, features):
    return call(make.floats(batch, features))


class PositiveLine(Model):
    """The line first, then its limits."""

    def forward(self, x):
        return (x * (1 / 6) + 0.5).clamp(0, 1)


class NegativeSlope(Model):
    """The other usual slope, 1/5."""

    def forward(self, x):
        return (0.2 * x + 0.5).clamp(0, 1)


class NegativeUndivided(Model):
    """Forgets to divide by 6."""

    def forward(self, x):
        return F.relu6(x + 3)
