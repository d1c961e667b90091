"""Clamp to the range from -1 to 1, element by element.

`Model()` has no weights. `forward(x)` takes a float32 tensor of shape `(batch, features)` and returns a new one of the
same shape: `min(max(x, -1), 1)`.
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
        return F.hardtanh(x)


def init_inputs():
    return []


def inputs(make, batch, features):
    return call(make.floats(batch, features))


class PositiveBranches(Model):
    """A sign where the size is above 1."""

    def forward(self, x):
        return torch.where(x.abs() > 1, torch.sign(x), x)


class NegativeTanh(Model):
    """The smooth curve."""

    def forward(self, x):
        return torch.tanh(x)


class NegativeUpperOnly(Model):
    """Clamps from above only."""

    def forward(self, x):
        return x.clamp(max=1)
