"""Best approximation of a matrix by one of rank `k`, or of each matrix of a batch.

`low_rank_svd_approximation(A, k, *, full_matrices=True, out=None)` returns `A_k = σ₁ u₁ v₁ᵀ + … + σ_k u_k v_kᵀ`, the first `k`
terms of the singular value decomposition `A = U diag(σ) Vᵀ`, `σ₁ ≥ σ₂ ≥ …`. `A` is a float32 or float64 tensor of shape
`(…, m, n)`, `1 ≤ k ≤ min(m, n)`; the result has `A`'s shape and dtype.

- `full_matrices` says whether the decomposition computes all of `U` and `Vᵀ` or its first `min(m, n)` columns and rows; the
  result is the same.
- `out`: if given, a contiguous tensor of `A`'s shape and dtype; it is filled and returned.

Singular values may be close or equal, so the result `X` is judged by what makes it a best approximation of a matrix that
differs from `A` by rounding. With `u = 10 max(m, n) ε`, `ε` the machine epsilon of `A`'s dtype, Frobenius norms:

- rank: all singular values of `X` but the `k` largest are at most `u ‖A‖`;
- what is left is orthogonal to it: `‖Xᵀ (A - X)‖ ≤ u ‖A‖²` and `‖(A - X) Xᵀ‖ ≤ u ‖A‖²`;
- what is left is smallest: `‖A - X‖ ≤ sqrt(σ²_{k+1} + σ²_{k+2} + …) + u ‖A‖`.

`A` may be non-contiguous and the batch may be 0; the strides of the result are free. TF32 and half precision are not
allowed.
"""

import torch

from kbx.suite import Property, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("linear-algebra", "decomposition", "not-unique")
MAGNITUDES = (-52, 56)
DISTRIBUTIONS = ("standard", "outliers", "small", "zeros")

CASES = [
    dict(shape=(13, 13), k=5),
    dict(shape=(7, 12), k=7),
    dict(shape=(19, 6), k=3, full_matrices=False),
    dict(shape=(3, 9, 5), k=2, full_matrices=False),
    dict(shape=(10, 17), k=4, condition=1e4),
    dict(shape=(1, 1), k=1),
    dict(shape=(11, 7), k=3, strided=True),
    dict(shape=(6, 8), k=2, out=True),
    dict(shape=(2, 3, 5, 4), k=2),
    dict(shape=(11, 6), k=4, dtype=torch.float64),
    dict(shape=(9, 14), k=1),
    dict(shape=(0, 5, 4), k=2),
]

SIZES = [
    dict(shape=(16, 16), k=4),
    dict(shape=(64, 32, 32), k=8, full_matrices=False),
    dict(shape=(64, 64), k=8),
    dict(shape=(128, 128), k=8, full_matrices=False),
    dict(shape=(256, 128), k=8),
]


def low_rank_svd_approximation(A, k, *, full_matrices=True, out=None):
    U, S, Vh = torch.linalg.svd(A, full_matrices=full_matrices)
    result = (U[..., :k] * S[..., None, :k]) @ Vh[..., :k, :]
    return result if out is None else out.copy_(result)


def inputs(make, shape, k, full_matrices=True, condition=None, dtype=None, strided=False, out=False):
    if condition:
        a = (
            make.well_conditioned(*shape[-2:], batch=shape[:-2], condition=condition, dtype=dtype)
            * 2
            * max(shape) ** 0.5
        )
    else:
        a = make.floats(*shape, dtype=dtype)
    target = make.plain(*shape, dtype=dtype) if out else None
    return call(make.strided(a) if strided else a, k, full_matrices=full_matrices, out=target)


def check(args, kwargs, result, expected):
    a, k = args
    unit = 10 * torch.finfo(a.dtype).eps * max(a.shape[-2:])
    a, x = a.double(), result.double()
    size, rest = _norm(a), a - x
    complaints = []
    _limit(complaints, f"singular value {k + 1} of X", _tail(x, k), unit * size)
    _limit(complaints, "‖Xᵀ (A - X)‖", _norm(x.mT @ rest), unit * size * size)
    _limit(complaints, "‖(A - X) Xᵀ‖", _norm(rest @ x.mT), unit * size * size)
    _limit(complaints, "‖A - X‖", _norm(rest), _tail(a, k) + unit * size)
    return complaints


def _tail(a, k):
    """Norm of all singular values but the k largest."""
    return torch.linalg.svdvals(a)[..., k:].square().sum(-1).sqrt()


def _norm(matrix):
    """Frobenius norm of each matrix."""
    return matrix.square().sum((-2, -1)).sqrt()


def _limit(complaints, name, found, allowed):
    """Written so that NaN is a complaint."""
    if not (found <= allowed).all():
        worst = (found - allowed).argmax()
        complaints.append(f"{name} is {found.flatten()[worst]:.3g}, allowed {allowed.flatten()[worst]:.3g}")


CONTRACT = Property(check)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_jacobi(A, k, *, full_matrices=True, out=None):
    """Rotates pairs of columns until all are orthogonal; the longest columns are the largest singular values."""
    u = A.clone()
    n = A.shape[-1]
    v = torch.eye(n, dtype=A.dtype, device=A.device).expand(*A.shape[:-2], n, n).clone()
    for _ in range(12):
        for i in range(n):
            for j in range(i + 1, n):
                a, b, c = ((u[..., p] * u[..., q]).sum(-1, keepdim=True) for p, q in ((i, i), (j, j), (i, j)))
                angle = 0.5 * torch.atan2(2 * c, a - b)
                for t in (u, v):
                    x, y = t[..., i].clone(), t[..., j].clone()
                    t[..., i] = angle.cos() * x + angle.sin() * y
                    t[..., j] = angle.cos() * y - angle.sin() * x
    largest = u.square().sum(-2).argsort(-1, descending=True)[..., :k].unsqueeze(-2)
    u, v = (t.gather(-1, largest.expand(*t.shape[:-1], k)) for t in (u, v))
    return _given(u @ v.mT, out)


def positive_projection(A, k, *, full_matrices=True, out=None):
    """Projects A on its first k left singular vectors."""
    u = torch.linalg.svd(A, full_matrices=False).U[..., :k]
    return _given(u @ (u.mT @ A), out)


def negative_rank_too_high(A, k, *, full_matrices=True, out=None):
    return low_rank_svd_approximation(A, min(k + 1, *A.shape[-2:]), out=out)


def negative_smallest_values(A, k, *, full_matrices=True, out=None):
    """Keeps the k smallest singular values."""
    u, s, vh = torch.linalg.svd(A, full_matrices=False)
    return _given((u[..., -k:] * s[..., None, -k:]) @ vh[..., -k:, :], out)


def negative_one_power_iteration(A, k, *, full_matrices=True, out=None):
    """A randomized range finder: nearly the best subspace."""
    guess = torch.cos(torch.arange(A.shape[-1] * k, dtype=A.dtype, device=A.device)).view(-1, k)
    q = torch.linalg.qr(A @ (A.mT @ (A @ guess))).Q
    return _given(q @ (q.mT @ A), out)


def negative_all_of_a(A, k, *, full_matrices=True, out=None):
    return _given(A.clone(), out)


def negative_ignores_out(A, k, *, full_matrices=True, out=None):
    return low_rank_svd_approximation(A, k)
