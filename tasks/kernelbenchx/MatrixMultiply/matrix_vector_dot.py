"""Dot product of a vector with a scaled matrix-vector product plus a scaled vector.

`matrix_vector_dot(A, x, y, alpha, beta)` with float32 `A` of shape `(n, n)`, `x` and `y` of shape `(n)`, computes

    v = alpha · (A @ x) + beta · y,      result = sum over i of v[i] · x[i],

a float32 tensor without dimensions. `alpha` and `beta` are Python numbers, multiplied as written: a NaN in `y` reaches
the result also where `beta` is 0.

No argument is changed: `v` is a value of its own and is not written to `y`. Arguments may be non-contiguous, and `n`
may be 0 (the result is 0). Products and sums are float32: TF32 and half precision are not allowed.
"""

import torch
from torch import Tensor

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("matmul", "reduction", "fusion", "memory-bound")
SKIP_CONTROLS = {"permuted": "the result is one number", "constant": "the result is one number"}

CASES = [
    dict(n=1),
    dict(n=37, alpha=2.0, beta=0.5),
    dict(n=130, alpha=-0.5, beta=1.5, strided=True),
    dict(n=64, beta=0.0),
    dict(n=19, alpha=0.0, beta=-2.0),
    dict(n=257),
    dict(n=0, beta=0.5),
]

SIZES = [
    dict(n=64),
    dict(n=2048, alpha=0.5, beta=2.0),
    dict(n=8192),
    dict(n=16384, alpha=0.5, beta=2.0),
]


def magnitude(A, x, y, alpha, beta):
    """Each entry of v errs by the size of its own terms, and that error is multiplied by x."""
    v = alpha * (A @ x) + beta * y
    errors = alpha**2 * (A.square() @ x.square()) + beta**2 * y.square()
    return ((v.square() + errors) * x.square()).sum().sqrt()


CONTRACT = Close(scale=magnitude)


def matrix_vector_dot(A: Tensor, x: Tensor, y: Tensor, alpha: float, beta: float) -> Tensor:
    y = alpha * torch.mv(A, x) + beta * y
    return torch.dot(y, x)


def inputs(make, n, alpha=1.0, beta=1.0, strided=False):
    """A is scaled by 1/sqrt(n), so that the product does not drown y."""
    a, x, y = make.plain(n, n).mul_(max(1, n) ** -0.5), make.floats(n), make.floats(n)
    return call(*((make.strided(t) if strided else t) for t in (a, x, y)), alpha, beta)


def positive_bilinear(A, x, y, alpha, beta):
    """alpha (xᵀ A) x + beta (y · x): the sum over rows first."""
    return alpha * ((x @ A) * x).sum() + beta * (y * x).sum()


def positive_column_by_column(A, x, y, alpha, beta):
    """One column of A after the other, then one product after the other."""
    v = beta * y
    for k in range(len(x)):
        v = v + alpha * A[:, k] * x[k]
    total = v.new_zeros(())
    for term in (v * x).unbind():
        total = total + term
    return total


def negative_dot_with_y(A, x, y, alpha, beta):
    """Multiplies by the old y instead of x."""
    return torch.dot(alpha * torch.mv(A, x) + beta * y, y)


def negative_no_y(A, x, y, alpha, beta):
    return alpha * torch.dot(torch.mv(A, x), x)


def negative_ignores_alpha(A, x, y, alpha, beta):
    return torch.dot(torch.mv(A, x) + beta * y, x)


def negative_updates_y(A, x, y, alpha, beta):
    """Writes v to y."""
    y.copy_(alpha * torch.mv(A, x) + beta * y)
    return torch.dot(y, x)


def negative_missing_tail(A, x, y, alpha, beta):
    """Leaves out the last columns when n is no multiple of 16."""
    whole = len(x) // 16 * 16
    return torch.dot(alpha * torch.mv(A[:, :whole], x[:whole]) + beta * y, x)


def negative_fp16_matrix(A, x, y, alpha, beta):
    return matrix_vector_dot(A.half().to(A.dtype), x, y, alpha, beta)
