"""Product of two matrices with odd sizes.

`Model()` has no weights. `forward(A, B)` takes float32 matrices of shapes `(m, k)` and `(k, n)` and returns their
product `A @ B` of shape `(m, n)`. All sizes are odd: every tail needs a mask.

Products and sums are float32, neither TF32 nor half precision.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul",)
DTYPE = "float32"

PUBLISHED = dict(m=8205, k=2949, n=5921)
SCALED = dict(m=45, k=101, n=77)

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
    """Adds the products of blocks of 32 along the inner dimension, as a tiled kernel does."""

    def forward(self, A, B):
        return sum(a @ b for a, b in zip(A.split(32, dim=1), B.split(32), strict=True))


class NegativeWholeTilesOnly(Model):
    """Computes whole tiles of 16 by 16 and leaves the last rows and columns at zero."""

    def forward(self, A, B):
        m, n = A.shape[0] // 16 * 16, B.shape[1] // 16 * 16
        result = A.new_zeros(A.shape[0], B.shape[1])
        result[:m, :n] = A[:m] @ B[:, :n]
        return result


class NegativeInnerTailMissing(Model):
    """Adds up whole tiles of 16 of the inner dimension and drops the rest."""

    def forward(self, A, B):
        k = A.shape[1] // 16 * 16
        return A[:, :k] @ B[:k]
