"""Product of a matrix and a transposed matrix.

`Model()` has no weights. `forward(A, B)` takes contiguous float32 matrices `A` of shape `(m, k)` and `B` of shape
`(n, k)` and returns `A @ B.T` of shape `(m, n)`: `C[i, j] = sum over l of A[i, l] * B[j, l]`.

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
        return A @ B.T


def init_inputs():
    return []


def inputs(make, m, k, n):
    return call(make.floats(m, k), make.floats(n, k))


class PositiveBlocked(Model):
    """Adds the products of blocks of 64 along the inner dimension."""

    def forward(self, A, B):
        return sum(a @ b.T for a, b in zip(A.split(64, dim=1), B.split(64, dim=1), strict=True))


class NegativeNotTransposed(Model):
    """Reads the memory of `B` as a matrix of shape `(k, n)`."""

    def forward(self, A, B):
        return A @ B.reshape(B.shape[1], B.shape[0])
