"""Product of two transposed matrices.

`Model()` has no weights. `forward(A, B)` takes contiguous float32 matrices `A` of shape `(k, m)` and `B` of shape
`(n, k)` and returns `A.T @ B.T` of shape `(m, n)`: `C[i, j] = sum over l of A[l, i] * B[j, l]`.

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
        return A.T @ B.T


def init_inputs():
    return []


def inputs(make, k, m, n):
    return call(make.floats(k, m), make.floats(n, k))


class PositiveTransposed(Model):
    """The transpose of `B @ A`, in blocks of 64 of the inner dimension."""

    def forward(self, A, B):
        return sum(b @ a for a, b in zip(A.split(64), B.split(64, dim=1), strict=True)).T


class NegativeOnlyATransposed(Model):
    """Reads the memory of `B` as a matrix of shape `(k, n)`."""

    def forward(self, A, B):
        return A.T @ B.reshape(B.shape[1], B.shape[0])
