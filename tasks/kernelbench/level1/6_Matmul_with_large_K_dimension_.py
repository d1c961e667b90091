"""Product of a wide and a tall matrix with a small result.

`Model()` has no weights. `forward(A, B)` takes float32 matrices of shapes `(m, k)` and `(k, n)`, where `k` is far
larger than `m` and `n`, and returns their product `A @ B` of shape `(m, n)`.

Products and sums are float32, neither TF32 nor half precision. A result is a sum of half a million products; they may
be added up in any order.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul",)
DTYPE = "float32"

PUBLISHED = dict(m=256, k=524288, n=256)
SCALED = dict(m=7, k=2111, n=5)

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


class PositiveSplit(Model):
    """Partial products of 64 stretches of the inner dimension, then their sum."""

    def forward(self, A, B):
        return torch.stack([a @ b for a, b in zip(A.chunk(64, dim=1), B.chunk(64), strict=True)]).sum(dim=0)


class NegativeLastSplitMissing(Model):
    """Adds up 63 of the 64 partial products."""

    def forward(self, A, B):
        split = -(-A.shape[1] // 64)
        return A[:, : 63 * split] @ B[: 63 * split]


class NegativeHalfPrecision(Model):
    """Rounds both operands to half precision for the tensor cores."""

    def forward(self, A, B):
        return A.half().float() @ B.half().float()
