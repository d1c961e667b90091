"""A matrix times a number.

`Model()` has no weights. `forward(A, s)` takes a float32 matrix `A` of shape `(m, n)` and a Python number `s` and
returns the new matrix `A * s` of the same shape; `A` keeps its values. `s` is not an integer.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("elementwise",)
DTYPE = "float32"

PUBLISHED = dict(m=65536, n=16384)
SCALED = dict(m=83, n=129)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, A: torch.Tensor, s: float) -> torch.Tensor:
        return A * s


def init_inputs():
    return []


def inputs(make, m, n):
    return call(make.floats(m, n), 3.14)


class NegativeIntegerScalar(Model):
    """The launcher declares the scalar as an integer."""

    def forward(self, A, s):
        return A * int(s)


class NegativeHalfScalar(Model):
    """Carries the scalar in half precision."""

    def forward(self, A, s):
        return A * torch.tensor(s, dtype=torch.float16, device=A.device)
