"""Scaled exponential linear unit (SELU), element by element.

`Model()` has no weights. `forward(x)` takes a float32 tensor of shape `(batch, features)` and returns a new one of the
same shape: `scale * x` where `x > 0` and `scale * alpha * (exp(x) - 1)` elsewhere, with `alpha = 1.6732632423543772848`
and `scale = 1.0507009873554804935`.
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

ALPHA, SCALE = 1.6732632423543772848, 1.0507009873554804935


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.selu(x)


def init_inputs():
    return []


def inputs(make, batch, features):
    return call(make.floats(batch, features))


class PositiveFormula(Model):
    """Written out, the exponential by base two."""

    def forward(self, x):
        falling = ALPHA * (torch.exp2(1.4426950408889634 * x.clamp(max=0)) - 1)
        return SCALE * (x.clamp(min=0) + falling)


class NegativeUnscaled(Model):
    """Leaves out `scale`."""

    def forward(self, x):
        return F.elu(x, ALPHA)


class NegativeELU(Model):
    """Leaves out `alpha`."""

    def forward(self, x):
        return SCALE * F.elu(x)
