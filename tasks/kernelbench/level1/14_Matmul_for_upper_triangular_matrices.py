"""Product of two upper triangular matrices.

`Model()` has no weights. `forward(A, B)` takes two upper triangular float32 matrices of shape `(n, n)`, stored in full
with zeros in the other triangle, and returns their product `A @ B` of the same shape, with exact zeros in the other
triangle: `C[i, j]` is the sum of `A[i, k] * B[k, j]` over `i <= k <= j` where `i <= j`, and 0 elsewhere.

Products and sums are float32, neither TF32 nor half precision.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul",)
DTYPE = "float32"

PUBLISHED = dict(n=4096)
SCALED = dict(n=67)

# Thousands of products added in order err more than PyTorch's sum, which may be a tree: four times the usual room.
CONTRACT = Close(growth=4)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, A, B):
        return torch.triu(A @ B)


def init_inputs():
    return []


def inputs(make, n):
    return call(make.floats(n, n).triu(), make.floats(n, n).triu())


class PositiveBlocked(Model):
    """The full product in blocks of 32 of the inner dimension; the zeros of the operands make those of the result."""

    def forward(self, A, B):
        return sum(a @ b for a, b in zip(A.split(32, dim=1), B.split(32), strict=True))


class NegativeStrictTriangle(Model):
    """Masks the diagonal away with the other triangle."""

    def forward(self, A, B):
        return (A @ B).triu(1)


class NegativeShortSum(Model):
    """The sum over `k` leaves out its last term."""

    def forward(self, A, B):
        return (A @ B.triu(1)).triu()
