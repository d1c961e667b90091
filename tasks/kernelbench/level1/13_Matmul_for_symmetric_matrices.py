"""Product of two symmetric matrices.

`Model()` has no weights. `forward(A, B)` takes two symmetric float32 matrices of shape `(n, n)`, stored in full, and
returns their product `A @ B` of the same shape. The product of symmetric matrices is not symmetric in general.

Products and sums are float32, neither TF32 nor half precision.
"""

from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul",)
DTYPE = "float32"

PUBLISHED = dict(n=4096)
SCALED = dict(n=67)

# Thousands of products added in order err more than PyTorch's sum, which may be a tree: four times the usual room.
CONTRACT = Close(growth=4)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, A, B):
        return A @ B


def init_inputs():
    return []


def inputs(make, n):
    A, B = make.floats(n, n), make.floats(n, n)
    return call((A + A.T) / 2, (B + B.T) / 2)


class PositiveTransposed(Model):
    """The transpose of `B @ A`, which is the same by symmetry."""

    def forward(self, A, B):
        return (B @ A).T


class NegativeMirrored(Model):
    """Computes the upper triangle and mirrors it, as if the product were symmetric."""

    def forward(self, A, B):
        upper = (A @ B).triu()
        return upper + upper.triu(1).T
