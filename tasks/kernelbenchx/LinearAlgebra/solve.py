"""Solution of a square system of linear equations.

`solve(A, B)` returns `X` with `A @ X = B`, for invertible float32 or float64 `A` of shape `(…, n, n)`.

- `B` is a batch of matrices `(…, n, k)`, and `X` has that shape; batch dimensions broadcast by PyTorch's rules.
- `B` is taken as a batch of vectors `(…, n)`, and `X` too, if it is one-dimensional or if its shape is exactly
  `A.shape[:-1]`.

Whole families of answers are equally good in floating point, so `X` is judged by its backward error: every column must
solve a system whose `A` and `B` differ from the given ones by rounding,

    ‖A x - b‖ ≤ 10 n ε (‖A‖ ‖x‖ + ‖b‖),

Euclidean norms (Frobenius for `A`), `ε` the machine epsilon of `A`'s dtype. Gaussian elimination with partial pivoting, QR,
or a refined inverse reach that; elimination without pivoting does not: diagonal elements may be zero. Arguments may be
non-contiguous, `n`, `k` and the batch may be 0, the strides of `X` are free. TF32 and half precision are not allowed.
"""

import torch

from kbx.suite import Property, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("linear-algebra", "solver", "not-unique")
MAGNITUDES = (-104, 120)
DISTRIBUTIONS = ("standard", "outliers", "small")

CASES = [
    dict(n=2, columns=1),
    dict(n=13, columns=3),
    dict(n=17, zero_diagonal=True),
    dict(n=10, columns=2, dtype=torch.float64, condition=1e4),
    dict(n=21, condition=1e4),
    dict(n=1, columns=1),
    dict(n=9, columns=4, strided=True),
    dict(n=11, batch=(5,)),
    dict(n=7, columns=2, batch=(3, 1), right_batch=(1, 2)),
    dict(n=4, columns=0),
]

SIZES = [
    dict(n=16),
    dict(n=64, columns=8),
    dict(n=256, columns=1),
    dict(n=1024, columns=64),
    dict(n=4096, columns=1),
]


def solve(A, B):
    return torch.linalg.solve(A, B)


def inputs(
    make, n, columns=None, batch=(), right_batch=None, condition=30, dtype=None, strided=False, zero_diagonal=False
):
    a = make.well_conditioned(n, n, batch=batch, condition=condition, dtype=dtype) * 3 * n**0.5
    if zero_diagonal:
        a.diagonal(dim1=-2, dim2=-1).zero_()
    right = (*(batch if right_batch is None else right_batch), n)
    b = make.floats(*right, dtype=dtype) if columns is None else make.floats(*right, columns, dtype=dtype)
    return call(make.strided(a), make.strided(b)) if strided else call(a, b)


def _is_vector(a, b):
    return b.dim() == 1 or b.shape == a.shape[:-1]


def check(args, kwargs, result, expected):
    a, b = args
    unit = 10 * torch.finfo(a.dtype).eps * a.shape[-1]
    if _is_vector(a, b):
        b, result = b.unsqueeze(-1), result.unsqueeze(-1)
    a, b, x = a.double(), b.double(), result.double()
    size = a.square().sum((-2, -1)).sqrt().unsqueeze(-1)
    error = _norm(a @ x - b)
    allowed = unit * (size * _norm(x) + _norm(b))
    if (error <= allowed).all():
        return []
    worst = (error - allowed).argmax()
    return [f"‖A x - b‖ is {error.flatten()[worst]:.3g}, allowed {allowed.flatten()[worst]:.3g}"]


def _norm(matrix):
    """Euclidean norm of each column."""
    return matrix.square().sum(-2).sqrt()


CONTRACT = Property(check)


def positive_qr(A, B):
    q, r = torch.linalg.qr(A)
    b = B.unsqueeze(-1) if _is_vector(A, B) else B
    x = torch.linalg.solve_triangular(r, q.mT @ b, upper=True)
    return x.squeeze(-1) if _is_vector(A, B) else x


def _eliminated(A, B, pivoting):
    """Gauss-Jordan elimination."""
    b = B.unsqueeze(-1) if _is_vector(A, B) else B
    batch, n = torch.broadcast_shapes(A.shape[:-2], b.shape[:-2]), A.shape[-1]
    work = torch.cat((A.expand(*batch, n, n), b.expand(*batch, n, b.shape[-1])), -1)
    for j in range(n):
        if pivoting:
            pivot = work[..., j:, j].abs().argmax(-1) + j
            order = torch.arange(n, device=A.device).expand(*batch, n).clone()
            order.scatter_(-1, pivot.unsqueeze(-1), j)
            order[..., j] = pivot
            work = work.gather(-2, order.unsqueeze(-1).expand_as(work))
        row = work[..., j : j + 1, :] / work[..., j : j + 1, j : j + 1]
        factor = work[..., :, j : j + 1].clone()
        factor[..., j, :] = 0
        work = work - factor * row
        work[..., j : j + 1, :] = row
    x = work[..., n:]
    return x.squeeze(-1) if _is_vector(A, B) else x


def positive_gauss_jordan(A, B):
    return _eliminated(A, B, pivoting=True)


def negative_no_pivoting(A, B):
    return _eliminated(A, B, pivoting=False)


def negative_transposed(A, B):
    return torch.linalg.solve(A.mT, B)


def negative_diagonal_only(A, B):
    """One Jacobi step from zero."""
    b = B.unsqueeze(-1) if _is_vector(A, B) else B
    x = b / A.diagonal(dim1=-2, dim2=-1).unsqueeze(-1)
    return x.squeeze(-1) if _is_vector(A, B) else x


def negative_normal_equations_in_half(A, B):
    """Solves with A rounded to float16."""
    return torch.linalg.solve(A.half().to(A.dtype), B)
