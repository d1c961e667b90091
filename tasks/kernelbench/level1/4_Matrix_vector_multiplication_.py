"""Product of a wide matrix and a column vector.

`Model()` has no weights. `forward(A, B)` takes a float32 matrix `A` of shape `(m, k)` and a float32 column `B` of shape
`(k, 1)` and returns `A @ B`, of shape `(m, 1)`. `k` is large: one result is a sum of a million products.

Products and sums are float32, neither TF32 nor half precision.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul",)
DTYPE = "float32"

PUBLISHED = dict(m=2048, k=1048576)
SCALED = dict(m=7, k=3001)


def magnitude(A, B):
    """Eight times what such a sum usually comes to: a million products added in order err by 1e-5 of that, PyTorch's sum, which is
    a tree, by a hundredth, and TF32 by more than 1e-4."""
    return 8 * torch.linalg.vector_norm(A) * torch.linalg.vector_norm(B) / A.numel() ** 0.5


CONTRACT = Close(scale=magnitude, growth=4)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return A @ B


def init_inputs():
    return []


def inputs(make, m, k):
    return call(make.floats(m, k), make.floats(k, 1))


class PositiveLanes(Model):
    """The 32 lanes of a warp walk down the row, each with a sum of its own, which are added up at the end."""

    def forward(self, A, B):
        lanes = A.new_zeros(A.shape[0], 32)
        for a, b in zip(A.split(32, dim=1), B.split(32), strict=True):
            lanes[:, : a.shape[1]] += a * b.T
        return lanes.sum(dim=1, keepdim=True)


class PositiveSplit(Model):
    """One partial sum for each of 64 stretches of a row, then their sum."""

    def forward(self, A, B):
        parts = [a @ b for a, b in zip(A.chunk(64, dim=1), B.chunk(64), strict=True)]
        return torch.cat(parts, dim=1).sum(dim=1, keepdim=True)


class NegativeLastSplitMissing(Model):
    """Adds up 63 of the 64 partial sums."""

    def forward(self, A, B):
        split = -(-A.shape[1] // 64)
        return A[:, : 63 * split] @ B[: 63 * split]
