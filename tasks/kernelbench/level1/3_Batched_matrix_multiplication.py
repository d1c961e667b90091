"""Products of corresponding matrices of two batches.

`Model()` has no weights. `forward(A, B)` takes float32 tensors of shapes `(batch, m, k)` and `(batch, k, n)` and
returns the matrix products `A[i] @ B[i]`, of shape `(batch, m, n)`.

Products and sums are float32, neither TF32 nor half precision.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul",)
DTYPE = "float32"

PUBLISHED = dict(batch=128, m=512, k=1024, n=2048)
SCALED = dict(batch=3, m=35, k=77, n=45)

# Thousands of products added in order err more than PyTorch's sum, which may be a tree: four times the usual room.
CONTRACT = Close(growth=4)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return torch.bmm(A, B)


def init_inputs():
    return []


def inputs(make, batch, m, k, n):
    return call(make.floats(batch, m, k), make.floats(batch, k, n))


class PositiveBlocked(Model):
    """Adds the products of blocks of 32 along the inner dimension, as a tiled kernel does."""

    def forward(self, A, B):
        return sum(a @ b for a, b in zip(A.split(32, dim=2), B.split(32, dim=1), strict=True))


class NegativeFirstMatrix(Model):
    """Takes the right factor without its batch offset."""

    def forward(self, A, B):
        return A @ B[:1]
