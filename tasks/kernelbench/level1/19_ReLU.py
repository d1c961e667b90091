"""Rectified linear unit, element by element.

`Model()` has no weights. `forward(x)` takes a float32 tensor of shape `(batch, features)` and returns a new one of the
same shape: `max(x, 0)`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Exact, call

TAGS = ("activation",)
DTYPE = "float32"

PUBLISHED = dict(batch=4096, features=393216)
SCALED = dict(batch=7, features=1021)

CONTRACT = Exact()


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x)


def init_inputs():
    return []


def inputs(make, batch, features):
    return call(make.floats(batch, features))


class PositiveMask(Model):
    """Multiplies by the mask of positive numbers."""

    def forward(self, x):
        return x * (x > 0)


class NegativeLeaky(Model):
    """Lets a hundredth of negative numbers through."""

    def forward(self, x):
        return F.leaky_relu(x)


class NegativeAbsolute(Model):
    """Clears the sign instead of the number."""

    def forward(self, x):
        return x.abs()
