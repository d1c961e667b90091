"""Product of every matrix of a batch and one matrix.

`Model()` has no weights. `forward(A, B)` takes a float32 tensor `A` of shape `(batch, m, k)` and a float32 matrix `B`
of shape `(k, n)` and returns `A[i] @ B` for every `i`, of shape `(batch, m, n)`.

Products and sums are float32, neither TF32 nor half precision.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul",)
DTYPE = "float32"

PUBLISHED = dict(batch=16, m=1024, k=2048, n=768)
SCALED = dict(batch=3, m=21, k=45, n=35)

# Thousands of products added in order err more than PyTorch's sum, which may be a tree: four times the usual room.
CONTRACT = Close(growth=4)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, A, B):
        return torch.matmul(A, B)


def init_inputs():
    return []


def inputs(make, batch, m, k, n):
    return call(make.floats(batch, m, k), make.floats(k, n))


class PositiveFlattened(Model):
    """One product with the batch and row dimensions made one, over blocks of 32 of the inner dimension."""

    def forward(self, A, B):
        blocks = zip(A.flatten(0, 1).split(32, dim=1), B.split(32), strict=True)
        return sum(a @ b for a, b in blocks).unflatten(0, A.shape[:2])


class NegativeInterleavedBatch(Model):
    """Stores row `m` of batch `i` at place `(m, i)` of the result's memory."""

    def forward(self, A, B):
        return (A.transpose(0, 1) @ B).reshape(*A.shape[:2], B.shape[1])
