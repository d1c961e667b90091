"""Determinant by QR decomposition, of a square matrix or of each matrix of a batch.

`determinant_via_qr(A, *, mode='reduced', out=None)` decomposes `A = Q @ R` with orthogonal `Q` and upper triangular `R`, and
returns `det Q · R_11 · … · R_nn`, the determinant of `A` with its sign. `A` is a float32 or float64 tensor of shape
`(…, n, n)`; the result has its dtype and batch shape `(…)` (0-dimensional for one matrix).

- `mode`: `'reduced'` or `'complete'`, which mean the same for a square matrix.
- `out`: if given, a contiguous tensor of the result's shape and dtype; it is filled and returned.

The result `d` must be the determinant of a matrix that differs from `A` by rounding. To first order that means

    |d - det A| ≤ 10 √n ε (‖A‖ ‖adj A‖ + |det A|),

`adj A` the adjugate (`det A · A⁻¹` where that exists; as if no singular value were less than `10 √n ε ‖A‖`), Frobenius
norms, `ε` the machine epsilon of `A`'s dtype. `A` may be singular or non-contiguous. Determinants and products of
diagonal elements neither overflow nor underflow. TF32 and half precision are not allowed.
"""

import torch

from kbx.suite import Property, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("linear-algebra", "decomposition")
MAGNITUDES = (-52, 56)
DISTRIBUTIONS = ("standard", "uniform", "outliers", "zeros")

CASES = [
    dict(n=2),
    dict(n=13, mode="complete"),
    dict(n=31, dtype=torch.float64),
    dict(n=11, zero_diagonal=True),
    dict(n=8, singular=True, mode="complete"),
    dict(n=1),
    dict(n=7, strided=True),
    dict(n=6, mode="complete", out=True),
    dict(n=5, batch=(3,)),
    dict(n=3, batch=(2, 7)),
    dict(n=9, batch=(0,), mode="complete"),
]

SIZES = [
    dict(n=16, near_permutation=True),
    dict(n=64, near_permutation=True, mode="complete"),
    dict(n=256, near_permutation=True),
    dict(n=1024, near_permutation=True),
]


def determinant_via_qr(A, *, mode="reduced", out=None):
    Q, R = torch.linalg.qr(A, mode=mode)
    result = torch.linalg.det(Q) * R.diagonal(dim1=-2, dim2=-1).prod(-1)
    return result if out is None else out.copy_(result)


def inputs(
    make, n, batch=(), mode="reduced", dtype=None, strided=False, out=False,
    zero_diagonal=False, singular=False, near_permutation=False,
):  # fmt: skip
    if near_permutation:
        # All pivots are about 1: the product of 1024 ordinary ones does not fit a float32.
        identity = torch.eye(n, device=make.device)
        a = identity[make.plain(n).argsort()] + 0.3 * n**-0.5 * make.floats(*batch, n, n, dtype=dtype)
    else:
        a = make.floats(*batch, n, n, dtype=dtype)
    if zero_diagonal:
        a.diagonal(dim1=-2, dim2=-1).zero_()
    if singular:
        a[..., -1, :] = a[..., 0, :] + a[..., 1, :]
    target = make.plain(*batch, dtype=dtype) if out else None
    return call(make.strided(a) if strided else a, mode=mode, out=target)


def check(args, kwargs, result, expected):
    a = args[0].double()
    unit = 10 * torch.finfo(args[0].dtype).eps * a.shape[-1] ** 0.5
    truth = torch.linalg.det(a)
    # Singular values; from AᵀA the small ones are inexact, which does not matter in the products below.
    sigma = torch.linalg.eigvalsh(a.mT @ a).clamp(min=0).sqrt()
    size = sigma.square().sum(-1).sqrt()
    # The singular values of the adjugate are the products of all singular values but one. None counts as less than a rounding
    # of A, or the errors of higher order would not be allowed where the adjugate is zero as well.
    others = sigma.maximum(unit * size.unsqueeze(-1)).unsqueeze(-2).expand(a.shape).clone()
    others.diagonal(dim1=-2, dim2=-1).fill_(1)
    adjugate = others.prod(-1).square().sum(-1).sqrt()
    allowed = unit * (size * adjugate + truth.abs())
    error = (result.double() - truth).abs()
    if (error <= allowed).all():
        return []
    worst = (error - allowed).argmax()
    found, right = result.flatten()[worst], truth.flatten()[worst]
    return [f"det A is {right:.9g}, got {found:.9g}, allowed error {allowed.flatten()[worst]:.3g}"]


CONTRACT = Property(check)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_givens(A, *, mode="reduced", out=None):
    """Rotations, whose determinant is 1."""
    r, n = A.clone(), A.shape[-1]
    for j in range(n):
        for i in range(j + 1, n):
            size = torch.hypot(r[..., j, j], r[..., i, j])
            safe = torch.where(size > 0, size, 1)
            c, s = torch.where(size > 0, r[..., j, j] / safe, 1), r[..., i, j] / safe
            upper, lower = r[..., j, :].clone(), r[..., i, :].clone()
            r[..., j, :] = c.unsqueeze(-1) * upper + s.unsqueeze(-1) * lower
            r[..., i, :] = c.unsqueeze(-1) * lower - s.unsqueeze(-1) * upper
    return _given(r.diagonal(dim1=-2, dim2=-1).prod(-1), out)


def positive_lu(A, *, mode="reduced", out=None):
    return _given(torch.linalg.det(A), out)


def negative_no_sign_of_q(A, *, mode="reduced", out=None):
    return _given(torch.linalg.qr(A).R.diagonal(dim1=-2, dim2=-1).prod(-1), out)


def negative_reflections_counted_as_n(A, *, mode="reduced", out=None):
    """Takes det Q to be (-1)ⁿ: the last column needs no reflection."""
    return _given((-1) ** A.shape[-1] * torch.linalg.qr(A).R.diagonal(dim1=-2, dim2=-1).prod(-1), out)


def negative_absolute(A, *, mode="reduced", out=None):
    return _given(torch.linalg.det(A).abs(), out)


def negative_ignores_out(A, *, mode="reduced", out=None):
    return torch.linalg.det(A)
