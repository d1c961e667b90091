"""Leaky rectified linear unit, element by element.

`Model(negative_slope=0.01)` has no weights. `forward(x)` takes a float32 tensor of shape `(batch, features)` and
returns a new one of the same shape: `x` where `x > 0` and `negative_slope * x` elsewhere.
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
    def __init__(self, negative_slope: float = 0.01):
        super().__init__()
        self.negative_slope = negative_slope

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.leaky_relu(x, self.negative_slope)


def init_inputs():
    return []


def inputs(make, batch, features):
    return call(make.floats(batch, features))


class PositiveMaximum(Model):
    """The larger of the two lines, for slopes below 1."""

    def forward(self, x):
        return torch.maximum(x, self.negative_slope * x)


class NegativeReLU(Model):
    """Clears negative numbers."""

    def forward(self, x):
        return torch.relu(x)


class NegativeOtherSlope(Model):
    """Uses the slope 0.1."""

    def forward(self, x):
        return F.leaky_relu(x, 0.1)
