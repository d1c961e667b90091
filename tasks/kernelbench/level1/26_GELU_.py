"""Gaussian error linear unit (GELU), element by element.

`Model()` has no weights. `forward(x)` takes a float32 tensor of shape `(batch, features)` and returns a new one of the
same shape: the exact form, `x * (1 + erf(x / sqrt(2))) / 2`. The approximation by tanh differs by up to 5e-4 and is
told apart.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("activation",)
DTYPE = "float32"

PUBLISHED = dict(batch=4096, features=393216)
SCALED = dict(batch=7, features=1021)

# The sum 1 + erf cancels for negative x.
CONTRACT = Close(scale=1.0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.gelu(x)


def init_inputs():
    return []


def inputs(make, batch, features):
    return call(make.floats(batch, features))


class PositiveErf(Model):
    """Written out."""

    def forward(self, x):
        return 0.5 * x * (1 + torch.erf(x * 0.7071067811865476))


class NegativeTanh(Model):
    """The approximation by tanh."""

    def forward(self, x):
        return F.gelu(x, approximate="tanh")


class NegativeSigmoid(Model):
    """The shortcut `x * sigmoid(1.702 x)`."""

    def forward(self, x):
        return x * torch.sigmoid(1.702 * x)
