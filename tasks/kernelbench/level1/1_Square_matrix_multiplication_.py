"""Product of two square matrices.

`Model()` has no weights. `forward(A, B)` takes two float32 matrices of shape `(n, n)` and returns their product `A @ B`
of the same shape: `C[i, j] = sum over k of A[i, k] * B[k, j]`.

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

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return A @ B


def init_inputs():
    return []


def inputs(make, n):
    return call(make.floats(n, n), make.floats(n, n))


class PositiveBlocked(Model):
    """Adds the products of blocks of 32 along the inner dimension, as a tiled kernel does."""

    def forward(self, A, B):
        return sum(a @ b for a, b in zip(A.split(32, dim=1), B.split(32), strict=True))


class NegativeTransposed(Model):
    """Reads `B` by columns where it is stored by rows."""

    def forward(self, A, B):
        return A @ B.T


class NegativeHalfPrecision(Model):
    """Rounds both operands to half precision for the tensor cores."""

    def forward(self, A, B):
        return A.half().float() @ B.half().float()
