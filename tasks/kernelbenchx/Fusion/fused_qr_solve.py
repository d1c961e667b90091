"""Least-squares solution of linear equations by QR decomposition.

`fused_qr_solve(A, b)` decomposes `A = Q @ R` (`Q` with orthonormal columns, `R` upper triangular) and returns
`x = R⁻¹ (Qᵀ b)`, which makes `‖A x - b‖` smallest, and solves `A x = b` where that is possible. `A` has shape `(m, n)`, `m ≥ n`,
and full rank, `b` has shape `(m, k)`, `x` has shape `(n, k)`. Both arguments are float32 or both are float64.

`x` may differ from the exact solution `x*` as far as rounding `A` and `b` changes that: for every column,

    ‖x - x*‖ ≤ 10 √m ε (κ ‖x*‖ + (‖b‖ + κ ‖A x* - b‖) / σ_n),

Euclidean norms, `κ = σ_1 / σ_n` for the largest and smallest singular value of `A`, `ε` the machine epsilon of the dtype.
Householder reflections, Givens rotations and modified Gram-Schmidt (with `Qᵀ b` computed alongside) reach that; the normal
equations `Aᵀ A x = Aᵀ b` and an explicit classical Gram-Schmidt `Q` do not. Arguments may be non-contiguous, `k` may be 0, the
strides of `x` are free. TF32 and half precision are not allowed.
"""

import torch

from kbx.suite import Property, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("linear-algebra", "solver", "decomposition", "fusion", "not-unique")
MAGNITUDES = (-104, 120)
DISTRIBUTIONS = ("standard", "outliers", "small")

CASES = [
    dict(m=13, n=5, k=3),
    dict(m=11, n=11, k=2),
    dict(m=31, n=10, k=1, consistent=True),
    dict(m=67, n=33, k=13),
    dict(m=17, n=2, k=1),
    dict(m=1, n=1, k=1),
    dict(m=19, n=7, k=4, strided=True),
    dict(m=12, n=12, k=2, condition=1e3, scaled=False),
    dict(m=30, n=10, k=1, condition=1e4, consistent=True, scaled=False),
    dict(m=11, n=6, k=2, dtype=torch.float64),
    dict(m=8, n=3, k=0),
]

SIZES = [
    dict(m=32, n=16, k=10),
    dict(m=512, n=256, k=10),
    dict(m=4096, n=128, k=10),
    dict(m=2048, n=256, k=64),
]


def fused_qr_solve(A: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    Q, R = torch.linalg.qr(A)
    return torch.linalg.solve_triangular(R, Q.mT @ b, upper=True)


def inputs(make, m, n, k, condition=20, consistent=False, scaled=True, dtype=None, strided=False):
    """``scaled``: the elements of ``A`` have a root mean square of 1; otherwise its largest singular value is 1."""
    a = make.well_conditioned(m, n, condition=condition, dtype=dtype)
    if scaled:
        a *= (m * n) ** 0.5 / a.norm()
    b = a @ make.floats(n, k, dtype=dtype) if consistent else make.floats(m, k, dtype=dtype)
    return call(make.strided(a), make.strided(b)) if strided else call(a, b)


def check(args, kwargs, result, expected):
    a, b = args[0].double(), args[1].double()
    unit = 10 * torch.finfo(args[0].dtype).eps * a.shape[0] ** 0.5
    sigma = torch.linalg.svdvals(a)
    condition = sigma[0] / sigma[-1]
    truth = fused_qr_solve(a, b)
    error = _norm(result.double() - truth)
    rest = _norm(a @ truth - b)
    allowed = unit * (condition * _norm(truth) + (_norm(b) + condition * rest) / sigma[-1])
    if (error <= allowed).all():
        return []
    worst = (error - allowed).argmax()
    return [f"‖x - x*‖ is {error[worst]:.3g}, allowed {allowed[worst]:.3g}"]


def _norm(matrix):
    """Euclidean norm of each column."""
    return matrix.square().sum(-2).sqrt()


CONTRACT = Property(check)


def _gram_schmidt(A, b, modified):
    """Orthogonalizes the columns of A, and b after them."""
    n = A.shape[1]
    q, r = torch.cat((A, b), 1), torch.zeros(n, n + b.shape[1], dtype=A.dtype, device=A.device)
    original = q.clone()
    for j in range(n):
        r[j, j] = q[:, j].norm()
        q[:, j] /= r[j, j]
        r[j, j + 1 :] = q[:, j] @ (q if modified else original)[:, j + 1 :]
        q[:, j + 1 :] -= torch.outer(q[:, j], r[j, j + 1 :])
    return torch.linalg.solve_triangular(r[:, :n], r[:, n:], upper=True)


def positive_modified_gram_schmidt(A, b):
    return _gram_schmidt(A, b, modified=True)


def positive_householder(A, b):
    """Reflections, applied to A and b side by side."""
    n = A.shape[1]
    work = torch.cat((A, b), 1)
    for j in range(min(A.shape[0] - 1, n)):
        v = work[j:, j].clone()
        v[0] += torch.copysign(v.norm(), v[0])
        work[j:] -= torch.outer(v, (2 / v.dot(v)) * (v @ work[j:]))
    return torch.linalg.solve_triangular(torch.triu(work[:n, :n]), work[:n, n:], upper=True)


def negative_normal_equations(A, b):
    return torch.linalg.solve_ex(A.mT @ A, A.mT @ b).result


def negative_first_rows(A, b):
    """Solves the first n equations alone."""
    n = A.shape[1]
    return torch.linalg.solve(A[:n], b[:n])


def negative_q_not_transposed(A, b):
    q, r = torch.linalg.qr(A, "complete")
    n = A.shape[1]
    return torch.linalg.solve_triangular(r[:n], (q @ b)[:n], upper=True)


def negative_classical_gram_schmidt(A, b):
    return _gram_schmidt(A, b, modified=False)


def negative_multiplies_with_r(A, b):
    q, r = torch.linalg.qr(A)
    return r @ (q.mT @ b)
