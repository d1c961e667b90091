"""Norm of a symmetric matrix times a vector, with two factors.

`symmetric_matrix_vector_norm(A, x, alpha, beta, p=2.0)` computes `y = alpha · (A @ x)`, adds `beta` times that vector to
itself, `y = y + beta · y`, and returns

    ‖y‖_p = (Σ |y_i|^p)^(1/p),

and for `p = inf` the largest `|y_i|`, as a 0-dimensional float32 tensor.

- `A`: `(n, n)`, exactly symmetric, so either triangle may be read; `x`: `(n,)`; both float32.
- `alpha`, `beta`: Python numbers; with `beta = -1` the norm is zero. `p`: a Python number, at least 1, or `inf`.

Arguments may be non-contiguous; `n` may be 0 (the norm is 0) unless `p` is `inf`. Products and sums are float32: TF32 and half
precision are not allowed. Errors are judged relative to the norm of the terms' sizes, `|alpha| (1 + |beta|) |A| |x|`.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("linear-algebra", "matmul", "reduction", "memory-bound")
MAGNITUDES = (-52, 56)
SKIP_CONTROLS = {"constant": "the result is one number", "permuted": "the result is one number"}

CASES = [
    dict(n=13, alpha=1.0, beta=1.0, p=1.0),
    dict(n=37, alpha=1.5, beta=0.5),
    dict(n=65, alpha=2.0, beta=0.5),
    dict(n=129, alpha=1.0, beta=0.5, p=2.0),
    dict(n=20, alpha=1.25, beta=0.75, p=1.0),
    dict(n=1, alpha=1.5, beta=0.5),
    dict(n=36, alpha=1.5, beta=0.5, strided=True),
    dict(n=35, alpha=-0.7, beta=0.5),
    dict(n=34, alpha=1.5, beta=-1.5),
    dict(n=66, alpha=2.0, beta=0),
    dict(n=7, alpha=1.0, beta=40.0),
    dict(n=33, alpha=1.5, beta=0.5, p=float("inf")),
    dict(n=64, alpha=1.5, beta=0.5, p=3.0),
    dict(n=0, alpha=1.0, beta=1.0),
]

SIZES = [
    dict(n=256, alpha=1.5, beta=0.5),
    dict(n=1024, alpha=1.5, beta=0.5),
    dict(n=4096, alpha=1.5, beta=0.5, p=1.0),
    dict(n=16384, alpha=1.5, beta=0.5),
]


def magnitude(A, x, alpha, beta, p=2.0):
    """Rounding errors of an element grow with its terms, not with what is left after cancellation."""
    x = x.double().abs()
    rows = torch.cat([part.double().abs() @ x for part in A.split(4096)])
    return abs(alpha) * (1 + abs(beta)) * torch.linalg.vector_norm(rows, p)


# A sum of thousands of products in order errs more than PyTorch's, which may add up a tree: four times the usual room.
CONTRACT = Close(scale=magnitude, growth=4)


def symmetric_matrix_vector_norm(
    A: torch.Tensor, x: torch.Tensor, alpha: float, beta: float, p: float = 2.0
) -> torch.Tensor:
    y = alpha * torch.mv(A, x)
    return torch.norm(y + beta * y, p)


def inputs(make, n, alpha, beta, p=2.0, strided=False):
    a, x = make.floats(n, n), make.floats(n)
    a = (a + a.mT) / 2
    return call(make.strided(a), make.strided(x), alpha, beta, p=p) if strided else call(a, x, alpha, beta, p=p)


def _norm(y, p):
    if p == float("inf"):
        return y.abs().amax()
    return y.abs().pow(p).sum().pow(1 / p)


def positive_columns(A, x, alpha, beta, p=2.0):
    """Adds up columns of one triangle and rows of the other."""
    y = torch.zeros_like(x)
    for j in range(len(x)):
        y = y + torch.cat((A[j, :j], A[j:, j])) * x[j]
    return _norm(alpha * y + beta * (alpha * y), p)


def positive_parts(A, x, alpha, beta, p=2.0):
    """Partial sums of four stretches of each row; the factors are applied to the norm."""
    parts = zip(A.tensor_split(4, 1), x.tensor_split(4), strict=True)
    return abs(alpha * (1 + beta)) * _norm(sum((a * v).sum(1) for a, v in parts), p)


def negative_always_euclidean(A, x, alpha, beta, p=2.0):
    return symmetric_matrix_vector_norm(A, x, alpha, beta)


def negative_ignores_alpha(A, x, alpha, beta, p=2.0):
    return symmetric_matrix_vector_norm(A, x, 1.0, beta, p)


def negative_beta_of_x(A, x, alpha, beta, p=2.0):
    """Adds a multiple of x."""
    return _norm(alpha * torch.mv(A, x) + beta * x, p)


def negative_ignores_beta(A, x, alpha, beta, p=2.0):
    return symmetric_matrix_vector_norm(A, x, alpha, 0.0, p)


def negative_beta_as_bias(A, x, alpha, beta, p=2.0):
    """Adds beta itself."""
    return _norm(alpha * torch.mv(A, x) + beta, p)


def negative_lower_triangle_only(A, x, alpha, beta, p=2.0):
    """Forgets the other triangle."""
    return symmetric_matrix_vector_norm(torch.tril(A), x, alpha, beta, p)


def negative_diagonal_twice(A, x, alpha, beta, p=2.0):
    return symmetric_matrix_vector_norm(A + torch.diag(A.diagonal()), x, alpha, beta, p)


def negative_no_root(A, x, alpha, beta, p=2.0):
    y = alpha * (1 + beta) * torch.mv(A, x)
    return y.abs().amax() if p == float("inf") else y.abs().pow(p).sum()


def negative_half_precision(A, x, alpha, beta, p=2.0):
    return symmetric_matrix_vector_norm(A.half().float(), x.half().float(), alpha, beta, p)
