"""Product of a tall, skinny matrix and a short, wide one.

`Model()` has no weights. `forward(A, B)` takes float32 matrices `A` of shape `(m, k)` and `B` of shape `(k, m)`, with
`k` far smaller than `m`, and returns their product `A @ B` of shape `(m, m)`.

Products and sums are float32, neither TF32 nor half precision.
"""

from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul",)
DTYPE = "float32"

PUBLISHED = dict(m=32768, k=32)
SCALED = dict(m=131, k=21)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, A, B):
        return A @ B


def init_inputs():
    return []


def inputs(make, m, k):
    return call(make.floats(m, k), make.floats(k, m))


class PositiveBlocked(Model):
    """Adds the products of blocks of 8 along the inner dimension, as a tiled kernel does."""

    def forward(self, A, B):
        return sum(a @ b for a, b in zip(A.split(8, dim=1), B.split(8), strict=True))


class NegativeColumnOrder(Model):
    """Reads `B` as if it were stored by columns."""

    def forward(self, A, B):
        return A @ B.reshape(A.shape).T


class NegativeHalfPrecision(Model):
    """Rounds both operands to half precision for the tensor cores."""

    def forward(self, A, B):
        return A.half().float() @ B.half().float()
