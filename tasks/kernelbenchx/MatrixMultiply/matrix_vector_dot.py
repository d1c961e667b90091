"""A scaled matrix-vector product plus a scaled vector, and the dot product of the sum with the vector that was multiplied.

`matrix_vector_dot(A, x, y, alpha, beta)` with float32 `A` of shape `(n, n)`, `x` and `y` of shape `(n)`, computes

    y = alpha · (A @ x) + beta · y,      result = sum over i of y[i] · x[i].

`y` is updated in place, through its own strides; returned is the dot product of the new `y` with `x`, a float32 tensor
without dimensions. `alpha` and `beta` are Python numbers, multiplied as written: a NaN in `y` stays also where `beta`
is 0.

`A` and `x` are not changed. Arguments may be non-contiguous, and `n` may be 0 (the result is 0). Products and sums are
float32: TF32 and half precision are not allowed.
"""

import torch
from torch import Tensor

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("matmul", "reduction", "fusion", "in-place", "memory-bound")
MAGNITUDES = (-104, 120)
MUTATES = ("y",)

CASES = [
    dict(n=37, alpha=2.0, beta=0.5),
    dict(n=64, beta=0.0),
    dict(n=257),
    dict(n=131, alpha=0.5, beta=0.75),
    dict(n=7, alpha=1.5),
    dict(n=1),
    dict(n=130, strided=True),
    dict(n=41, alpha=-0.5),
    dict(n=19, alpha=0.0),
    dict(n=33, beta=-2.0),
    dict(n=70, beta=1.5),
    dict(n=0, beta=0.5),
]

SIZES = [
    dict(n=64),
    dict(n=2048, alpha=0.5, beta=0.5),
    dict(n=8192),
    dict(n=16384, alpha=0.5, beta=0.5),
]


def magnitude(A, x, y, alpha, beta):
    """Each entry of the new y errs by the size of its own terms, and that error is multiplied by x."""
    v = alpha * (A @ x) + beta * y
    errors = alpha**2 * (A.square() @ x.square()) + beta**2 * y.square()
    return ((v.square() + errors) * x.square()).sum().sqrt()


# A sum of thousands of products in order errs more than PyTorch's, which may add up a tree: four times the usual room.
CONTRACT = Close(scale=magnitude, growth=4)


def matrix_vector_dot(A: Tensor, x: Tensor, y: Tensor, alpha: float, beta: float) -> Tensor:
    y.copy_(alpha * torch.mv(A, x) + beta * y)
    return torch.dot(y, x)


def inputs(make, n, alpha=1.0, beta=1.0, strided=False):
    """x is of order 1, so that one scale fits both results."""
    a, x, y = make.plain(n, n), make.plain(n), make.floats(n)
    x, y = x.clamp(-3, 3), y.clamp(-3, 3) if make.distribution in ("standard", "outliers") else y
    return call(*((make.strided(t) if strided else t) for t in (a, x, y)), alpha, beta)


def positive_bilinear(A, x, y, alpha, beta):
    """alpha (xᵀ A) x + beta (y · x): the sum over rows first."""
    result = alpha * ((x @ A) * x).sum() + beta * (y * x).sum()
    y.mul_(beta).add_(A @ x, alpha=alpha)
    return result


def positive_column_by_column(A, x, y, alpha, beta):
    """One column of A after the other, then one product after the other."""
    v = beta * y
    for k in range(len(x)):
        v = v + alpha * A[:, k] * x[k]
    total = v.new_zeros(())
    for term in (v * x).unbind():
        total = total + term
    y.copy_(v)
    return total


def negative_dot_with_y(A, x, y, alpha, beta):
    """Multiplies by the old y instead of x."""
    old = y.clone()
    matrix_vector_dot(A, x, y, alpha, beta)
    return torch.dot(y, old)


def negative_no_y(A, x, y, alpha, beta):
    return matrix_vector_dot(A, x, y, alpha, 0.0)


def negative_ignores_alpha(A, x, y, alpha, beta):
    return matrix_vector_dot(A, x, y, 1.0, beta)


def negative_leaves_y(A, x, y, alpha, beta):
    """Returns the right number and keeps the vector to itself."""
    return matrix_vector_dot(A, x, y.clone(), alpha, beta)


def negative_missing_tail(A, x, y, alpha, beta):
    """Leaves out the last columns when n is no multiple of 16."""
    whole = len(x) // 16 * 16
    return torch.dot(y.copy_(alpha * torch.mv(A[:, :whole], x[:whole]) + beta * y), x)


def negative_fp16_matrix(A, x, y, alpha, beta):
    return matrix_vector_dot(A.half().to(A.dtype), x, y, alpha, beta)
