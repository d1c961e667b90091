"""Product of two matrices.

`Model()` has no weights. `forward(A, B)` takes float32 matrices of shapes `(m, k)` and `(k, n)` and returns their
product `A @ B` of shape `(m, n)`.

Products and sums are float32, neither TF32 nor half precision.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul",)
DTYPE = "float32"

PUBLISHED = dict(m=2048, k=8192, n=4096)
SCALED = dict(m=45, k=131, n=77)

# Thousands of products added in order err more than PyTorch's sum, which may be a tree: four times the usual room.
CONTRACT = Close(growth=4)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return A @ B


def init_inputs():
    return []


def inputs(make, m, k, n):
    return call(make.floats(m, k), make.floats(k, n))


class PositiveBlocked(Model):
    """Adds the products of blocks of 64 along the inner dimension, as a tiled kernel does."""

    def forward(self, A, B):
        return sum(a @ b for a, b in zip(A.split(64, dim=1), B.split(64), strict=True))


class NegativeLastTileMissing(Model):
    """The loop over the inner dimension ends one tile of 16 early."""

    def forward(self, A, B):
        return A[:, :-16] @ B[:-16]


class NegativeHalfPrecision(Model):
    """Rounds both operands to half precision for the tensor cores."""

    def forward(self, A, B):
        return A.half().float() @ B.half().float()
