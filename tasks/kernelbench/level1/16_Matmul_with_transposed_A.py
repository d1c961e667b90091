"""Product of a transposed matrix and a matrix.

`Model()` has no weights. `forward(A, B)` takes contiguous float32 matrices `A` of shape `(k, m)` and `B` of shape
`(k, n)` and returns `A.T @ B` of shape `(m, n)`: `C[i, j] = sum over l of A[l, i] * B[l, j]`.

Products and sums are float32, neither TF32 nor half precision.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul",)
DTYPE = "float32"

PUBLISHED = dict(k=8192, m=2048, n=4096)
SCALED = dict(k=131, m=45, n=77)

# Thousands of products added in order err more than PyTorch's sum, which may be a tree: four times the usual room.
CONTRACT = Close(growth=4)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return A.T @ B


def init_inputs():
    return []


def inputs(make, k, m, n):
    return call(make.floats(k, m), make.floats(k, n))


class PositiveBlocked(Model):
    """Adds the products of blocks of 64 along the inner dimension."""

    def forward(self, A, B):
        return sum(a.T @ b for a, b in zip(A.split(64), B.split(64), strict=True))


class NegativeNotTransposed(Model):
    """Reads the memory of `A` as a matrix of shape `(m, k)`."""

    def forward(self, A, B):
        return A.reshape(A.shape[1], A.shape[0]) @ B
