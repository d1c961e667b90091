"""Solution of an upper triangular system of linear equations plus a multiple of a vector.

`solve_and_add_scaled_vector(A, b, y, alpha)` returns `x + alpha · y`, where `A @ x = b`.

- `A`: `(n, n)`, upper triangular with a nonzero diagonal; what lies below the diagonal is not read and may hold any finite
  numbers.
- `b`: `(n,)`, a vector, or `(n, k)`, one system for each column; `x` has its shape.
- `y`: broadcasts to `b`'s shape by PyTorch's rules (a one-dimensional `y` beside a two-dimensional `b` is a row).
- `alpha`: a Python number; with 0, `y` holds finite numbers.

All tensors are float32 or all are float64. The result `r` is a new tensor of `b`'s shape, judged by its backward error:
with `x = r - alpha · y` every column must fulfil

    ‖A x - b‖ ≤ 10 n ε (‖A‖ (‖x‖ + ‖alpha · y‖) + ‖b‖),

Euclidean norms (Frobenius for `A`), `ε` the machine epsilon of the dtype. Substitution reaches that. Arguments may be
non-contiguous, `n` and `k` may be 0, the strides of the result are free. TF32 and half precision are not allowed.
"""

import torch

from kbx.suite import Property, call

DIFFICULTY = 1
DTYPE = "float32"
TAGS = ("linear-algebra", "solver", "not-unique")
MAGNITUDES = (-104, 120)
DISTRIBUTIONS = ("standard", "uniform", "outliers", "small")

CASES = [
    dict(n=2, k=2, alpha=0.5, scaled=(2, 1)),
    dict(n=13, k=1, alpha=0.3, below=True),
    dict(n=23, k=5, alpha=0.1),
    dict(n=17, k=3, alpha=0.5, scaled=(17, 1)),
    dict(n=8, k=2, alpha=0.5, dtype=torch.float64),
    dict(n=1, k=1, alpha=0.5),
    dict(n=10, k=3, alpha=0.3, strided=True),
    dict(n=12, alpha=0.5),
    dict(n=9, k=4, alpha=0.2, scaled=(4,)),
    dict(n=37, k=5, alpha=-1.5),
    dict(n=7, k=2, alpha=2),
    dict(n=11, k=2, alpha=0.0),
    dict(n=5, k=0, alpha=0.5),
]

SIZES = [
    dict(n=32, k=1, alpha=0.5),
    dict(n=256, k=1, alpha=0.5),
    dict(n=1024, k=1, alpha=0.5),
    dict(n=2048, k=256, alpha=0.5),
    dict(n=8192, k=1, alpha=0.5),
]


def solve_and_add_scaled_vector(A: torch.Tensor, b: torch.Tensor, y: torch.Tensor, alpha: float) -> torch.Tensor:
    right = b.unsqueeze(-1) if b.dim() == 1 else b
    x = torch.linalg.solve_triangular(A, right, upper=True).reshape(b.shape)
    return x + alpha * y


def inputs(make, n, alpha, k=None, scaled=None, below=False, dtype=None, strided=False):
    # The diagonal dominates: x does not grow from row to row.
    a = make.floats(n, n, dtype=dtype, low=-1, high=1) / max(1, n) ** 0.5
    a = torch.triu(a, 1) + torch.diag(make.plain(n, dtype=dtype, low=1, high=2) * (1 - 2.0 * make.bools(n)))
    if below:
        a += torch.tril(make.plain(n, n, dtype=dtype), -1)
    shape = (n,) if k is None else (n, k)
    b, y = make.floats(*shape, dtype=dtype), make.floats(*(scaled or shape), dtype=dtype)
    if strided:
        a, b, y = make.strided(a), make.strided(b), make.strided(y)
    return call(a, b, y, alpha)


def check(args, kwargs, result, expected):
    a, b, y, alpha = args
    unit = 10 * torch.finfo(a.dtype).eps * a.shape[-1]
    a, b, added = torch.triu(a.double()), b.double(), (alpha * y.double()).expand_as(b)
    x = result.double() - added
    if b.dim() == 1:
        b, x, added = b.unsqueeze(-1), x.unsqueeze(-1), added.unsqueeze(-1)
    error = _norm(a @ x - b)
    allowed = unit * (a.norm() * (_norm(x) + _norm(added)) + _norm(b))
    if (error <= allowed).all():
        return []
    worst = (error - allowed).argmax()
    return [f"‖A x - b‖ is {error[worst]:.3g}, allowed {allowed[worst]:.3g}"]


def _norm(matrix):
    """Euclidean norm of each column."""
    return matrix.square().sum(-2).sqrt()


CONTRACT = Property(check)


def positive_row_by_row(A, b, y, alpha):
    """Inner products from the last row up."""
    x = b.clone()
    for i in reversed(range(A.shape[0])):
        known = A[i, i + 1 :] @ x[i + 1 :]
        x[i] = (x[i] - known) / A[i, i]
    return x + alpha * y


def positive_column_by_column(A, b, y, alpha):
    """Takes each known element off all equations above."""
    x = b.clone()
    for j in reversed(range(A.shape[0])):
        x[j] = x[j] * (1 / A[j, j])
        x[:j] -= torch.outer(A[:j, j], x[j].reshape(-1)).reshape(x[:j].shape)
    return torch.add(x, y, alpha=alpha)


def _solved(A, b):
    right = b.unsqueeze(-1) if b.dim() == 1 else b
    return torch.linalg.solve(A, right).reshape(b.shape)


def negative_reads_below_the_diagonal(A, b, y, alpha):
    return _solved(A, b) + alpha * y


def negative_lower(A, b, y, alpha):
    return _solved(torch.triu(A).mT, b) + alpha * y


def negative_unit_diagonal(A, b, y, alpha):
    return _solved(torch.triu(A, 1) + torch.eye(A.shape[0], dtype=A.dtype, device=A.device), b) + alpha * y


def negative_ignores_alpha(A, b, y, alpha):
    return _solved(torch.triu(A), b) + y


def negative_adds_to_b(A, b, y, alpha):
    """Adds the vector before it solves."""
    return _solved(torch.triu(A), b + alpha * y)
