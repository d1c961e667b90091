"""LU decomposition of a matrix, and the solution of linear equations with the product of its triangular factors.

`fused_lu_solve(A, b)` decomposes `A = P @ L @ U` with partial pivoting (`P` a permutation, `L` unit lower triangular, `U` upper
triangular) and returns the solution `x` of

    L @ U @ x = b.

The permutation is *not* applied to `b`: `x` solves `Pᵀ A x = b`, the equations of `A` in the order that pivoting gave its
rows. `A` is an invertible `(n, n)` matrix, `b` and `x` have shape `(n,)`; both arguments are float32 or both are float64.

In every column that elimination meets, the largest element is at least twice as large as the others, so rounding does not
change `P`; diagonal elements of `A` may be zero. `x` is judged by its backward error,

    ‖L U x - b‖ ≤ 10 n ε (‖A‖ ‖x‖ + ‖b‖),

with exact factors, Euclidean norms (Frobenius for `A`), `ε` the machine epsilon of the dtype. Arguments may be
non-contiguous; the strides of `x` are free. TF32 and half precision are not allowed.
"""

import torch

from kbx.suite import Property, call

DIFFICULTY = 5
DTYPE = "float32"
TAGS = ("linear-algebra", "solver", "decomposition", "fusion", "not-unique")
MAGNITUDES = (-104, 120)
DISTRIBUTIONS = ("standard", "uniform", "outliers", "small")

CASES = [
    dict(n=2),
    dict(n=13),
    dict(n=9, zero_diagonal=True),
    dict(n=17, in_order=True),
    dict(n=67),
    dict(n=1),
    dict(n=37, strided=True),
    dict(n=10, dtype=torch.float64),
]

SIZES = [
    dict(n=16),
    dict(n=256),
    dict(n=1024),
    dict(n=2048),
]


def fused_lu_solve(A: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    _, L, U = torch.linalg.lu(A)
    y = torch.linalg.solve_triangular(L, b.unsqueeze(-1), upper=False, unitriangular=True)
    return torch.linalg.solve_triangular(U, y, upper=True).squeeze(-1)


def inputs(make, n, zero_diagonal=False, in_order=False, dtype=None, strided=False):
    # A dominant diagonal, its rows shuffled: the pivots are clear. Elements are around one, however many there are.
    sign = 1 - 2.0 * make.bools(n)
    a = torch.diag(make.plain(n, dtype=dtype, low=1, high=2) * sign)
    a = (a + make.floats(n, n, dtype=dtype, low=-1, high=1) / (4 * n)) * n**0.5
    if not in_order:
        a = a[make.plain(n).argsort()]
    if zero_diagonal:
        a.diagonal()[a.diagonal().abs() < 0.5 * n**0.5] = 0
    b = make.floats(n, dtype=dtype)
    return call(make.strided(a), make.strided(b)) if strided else call(a, b)


def check(args, kwargs, result, expected):
    a, b = args[0].double(), args[1].double()
    unit = 10 * torch.finfo(args[0].dtype).eps * a.shape[-1]
    x = result.double()
    error = (torch.linalg.lu(a).P.mT @ (a @ x) - b).norm()
    allowed = unit * (a.norm() * x.norm() + b.norm())
    return [] if error <= allowed else [f"‖L U x - b‖ is {error:.3g}, allowed {allowed:.3g}"]


CONTRACT = Property(check)


def _eliminated(A, b, pivoting=True):
    """Elimination of one column after the other; ``b`` stays in its order."""
    work, y = A.clone(), b.clone()
    for j in range(A.shape[0]):
        if pivoting:
            place = j + int(work[j:, j].abs().argmax())
            work[[j, place]] = work[[place, j]]
        work[j + 1 :, j] /= work[j, j]
        work[j + 1 :, j + 1 :] -= torch.outer(work[j + 1 :, j], work[j, j + 1 :])
    for j in range(A.shape[0]):
        y[j + 1 :] -= work[j + 1 :, j] * y[j]
    for j in reversed(range(A.shape[0])):
        y[j] /= work[j, j]
        y[:j] -= work[:j, j] * y[j]
    return y


def positive_elimination(A, b):
    return _eliminated(A, b)


def positive_product(A, b):
    """Multiplies the factors and solves with the product."""
    _, lower, upper = torch.linalg.lu(A)
    return torch.linalg.solve(lower @ upper, b)


def negative_solves_with_a(A, b):
    """Applies the permutation, as a solver for A x = b does."""
    return torch.linalg.solve(A, b)


def negative_permuted_the_wrong_way(A, b):
    p, lower, upper = torch.linalg.lu(A)
    return torch.linalg.solve(lower @ upper, p @ b)


def negative_no_pivoting(A, b):
    return _eliminated(A, b, pivoting=False)


def negative_diagonal_of_u_in_l(A, b):
    """Divides by the diagonal in both substitutions."""
    _, lower, upper = torch.linalg.lu(A)
    lower = torch.tril(lower, -1) + torch.diag(upper.diagonal())
    return torch.linalg.solve(lower @ upper, b)
