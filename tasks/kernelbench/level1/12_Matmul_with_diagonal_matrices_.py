"""Product of a diagonal matrix and a full one.

`Model()` has no weights. `forward(A, B)` takes the diagonal `A` of shape `(n,)` and a matrix `B` of shape `(n, n)`,
both float32, and returns the matrix product `diag(A) @ B` of shape `(n, n)`. All numbers are finite, so that it equals
`A[i] * B[i, j]`: row `i` of `B` times element `i` of `A`.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul",)
DTYPE = "float32"

PUBLISHED = dict(n=4096)
SCALED = dict(n=67)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, A, B):
        return torch.diag(A) @ B


def init_inputs():
    return []


def inputs(make, n):
    return call(make.floats(n), make.floats(n, n))


class PositiveRowScaling(Model):
    """Scales the rows without making the diagonal matrix."""

    def forward(self, A, B):
        return A[:, None] * B


class NegativeColumnScaling(Model):
    """Scales the columns: `B @ diag(A)`."""

    def forward(self, A, B):
        return A * B
