"""Contraction of the last dimension of a four-dimensional tensor with a matrix.

`Model()` has no weights. `forward(A, B)` takes a float32 tensor `A` of shape `(batch, i, j, depth)` and a float32
matrix `B` of shape `(depth, n)` and returns `C[b, i, j, k] = sum over l of A[b, i, j, l] * B[l, k]`, of shape
`(batch, i, j, n)`.

Products and sums are float32, neither TF32 nor half precision.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul",)
DTYPE = "float32"

PUBLISHED = dict(batch=8, i=256, j=512, depth=256, n=768)
SCALED = dict(batch=2, i=5, j=11, depth=45, n=23)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, A, B):
        return torch.einsum("bijl,lk->bijk", A, B)


def init_inputs():
    return []


def inputs(make, batch, i, j, depth, n):
    return call(make.floats(batch, i, j, depth), make.floats(depth, n))


class PositiveFlattened(Model):
    """One product with the first three dimensions made one, over blocks of 32 of the inner dimension."""

    def forward(self, A, B):
        blocks = zip(A.flatten(0, 2).split(32, dim=1), B.split(32), strict=True)
        return sum(a @ b for a, b in blocks).unflatten(0, A.shape[:3])


class NegativeSwappedRows(Model):
    """Stores the rows with `i` and `j` in the other order."""

    def forward(self, A, B):
        return (A.transpose(1, 2) @ B).reshape(*A.shape[:3], B.shape[1])
