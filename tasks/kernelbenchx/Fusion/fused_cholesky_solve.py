"""Solution of linear equations with a symmetric positive definite matrix by Cholesky decomposition.

`fused_cholesky_solve(A, b)` decomposes `A = L @ Lᵀ` with lower triangular `L` and returns `x` with `A @ x = b`. `A` is an `(n, n)`
matrix, symmetric (exactly, so either triangle may be read) and positive definite; `b` and `x` have shape `(n, k)`. Both
arguments are float32 or both are float64.

`x` is judged by its backward error: every column must solve a system whose `A` and `b` differ from the given ones by
rounding,

    ‖A x - b‖ ≤ 10 n ε (‖A‖ ‖x‖ + ‖b‖),

Euclidean norms (Frobenius for `A`), `ε` the machine epsilon of the dtype. Cholesky decomposition with two substitutions
reaches that for condition numbers of 10⁴ too; a few steps of an iterative solver do not. Arguments may be non-contiguous,
`n` and `k` may be 0, the strides of `x` are free. TF32 and half precision are not allowed.
"""

import torch

from kbx.suite import Property, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("linear-algebra", "solver", "decomposition", "fusion", "not-unique")
MAGNITUDES = (56,)
DISTRIBUTIONS = ("standard", "outliers", "small")

CASES = [
    dict(n=2, k=1, gram=True),
    dict(n=13, k=3),
    dict(n=37, k=1, condition=1e4),
    dict(n=16, k=17, gram=True),
    dict(n=67, k=2, gram=True),
    dict(n=1, k=1),
    dict(n=9, k=4, strided=True),
    dict(n=10, k=2, dtype=torch.float64),
    dict(n=4, k=0),
    dict(n=0, k=3),
]

SIZES = [
    dict(n=16, k=1, gram=True),
    dict(n=256, k=1, gram=True),
    dict(n=1024, k=64, gram=True),
    dict(n=4096, k=1, gram=True),
]


def fused_cholesky_solve(A: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.cholesky_solve(b, torch.linalg.cholesky(A))


def inputs(make, n, k, condition=1e2, gram=False, dtype=None, strided=False):
    if gram:
        # Outliers as the published tests draw them are far larger than any of their matrices' elements.
        g = make.floats(n, 2 * n, dtype=dtype)
        g = g.clamp(-8, 8) if make.distribution == "outliers" else g
        a = g @ g.mT
        a = (a + a.mT) / 2
    else:
        a = 4 * n * make.spd(n, condition=condition, dtype=dtype)
    b = make.floats(n, k, dtype=dtype)
    return call(make.strided(a), make.strided(b)) if strided else call(a, b)


def check(args, kwargs, result, expected):
    a, b = args
    unit = 10 * torch.finfo(a.dtype).eps * a.shape[-1]
    a, b, x = a.double(), b.double(), result.double()
    error = _norm(a @ x - b)
    allowed = unit * (a.norm() * _norm(x) + _norm(b))
    if (error <= allowed).all():
        return []
    worst = (error - allowed).argmax()
    return [f"‖A x - b‖ is {error[worst]:.3g}, allowed {allowed[worst]:.3g}"]


def _norm(matrix):
    """Euclidean norm of each column."""
    return matrix.square().sum(-2).sqrt()


CONTRACT = Property(check)


def positive_outer_products(A, b):
    """L column by column beside the forward substitution, then backwards."""
    rest, x = A.clone(), b.clone()
    lower = torch.zeros_like(A)
    for j in range(A.shape[0]):
        lower[j:, j] = rest[j:, j] / rest[j, j].sqrt()
        rest[j:, j:] -= torch.outer(lower[j:, j], lower[j:, j])
        x[j] = x[j] / lower[j, j]
        x[j + 1 :] -= torch.outer(lower[j + 1 :, j], x[j])
    for j in reversed(range(A.shape[0])):
        x[j] = x[j] / lower[j, j]
        x[:j] -= torch.outer(lower[j, :j], x[j])
    return x


def positive_lu(A, b):
    return torch.linalg.solve(A, b)


def negative_forward_only(A, b):
    return torch.linalg.solve_triangular(torch.linalg.cholesky(A), b, upper=False)


def negative_factors_swapped(A, b):
    """Solves with Lᵀ L instead of L Lᵀ."""
    lower = torch.linalg.cholesky(A)
    return torch.linalg.solve(lower.mT @ lower, b)


def negative_unit_factor(A, b):
    """Leaves D out of L D Lᵀ."""
    lower = torch.linalg.cholesky(A)
    return torch.cholesky_solve(b, lower / lower.diagonal())


def negative_conjugate_gradients(A, b):
    """Three steps from zero."""
    x, r = torch.zeros_like(b), b.clone()
    p, size = r.clone(), (r * r).sum(0)
    for _ in range(3):
        ap = A @ p
        step = size / (p * ap).sum(0).clamp(min=1e-30)
        x, r = x + step * p, r - step * ap
        size, last = (r * r).sum(0), size
        p = r + size / last.clamp(min=1e-30) * p
    return x


def negative_half_precision(A, b):
    return torch.linalg.solve(A.half().to(A.dtype), b)
