"""Gaussian error linear unit in GPT-2's approximation, element by element.

`Model()` has no weights. `forward(x)` takes a float32 tensor of shape `(batch, features)` and returns a new one of the
same shape:

    0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))

The form with `erf` differs by up to 5e-4 and is told apart.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("activation",)
DTYPE = "float32"

PUBLISHED = dict(batch=8192, features=8192)
SCALED = dict(batch=37, features=501)

# The sum 1 + tanh cancels for negative x.
CONTRACT = Close(scale=1.0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * torch.pow(x, 3))))


def init_inputs():
    return []


def inputs(make, batch, features):
    return call(make.floats(batch, features))


class PositiveSigmoid(Model):
    """By `(1 + tanh(z)) / 2 = sigmoid(2 * z)`."""

    def forward(self, x):
        return x * torch.sigmoid(1.5957691216057308 * x * (1 + 0.044715 * x * x))


class NegativeErf(Model):
    """The exact form."""

    def forward(self, x):
        return F.gelu(x)


class NegativeCubeMissing(Model):
    """Leaves out the cube."""

    def forward(self, x):
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * x))
