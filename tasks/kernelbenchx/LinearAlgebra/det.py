"""Determinant of a square matrix, or of each matrix of a batch.

`det(A)` returns the determinants of `A`, a float32 or float64 tensor of shape `(…, n, n)`, as a new tensor of `A`'s dtype
and batch shape `(…)` (0-dimensional for one matrix). The determinant of a 0 x 0 matrix is 1.

The result `d` must be the determinant of a matrix that differs from `A` by rounding. To first order that means

    |d - det A| ≤ 10 √n ε (‖A‖ ‖adj A‖ + |det A|),

`adj A` the adjugate (`det A · A⁻¹` where that exists; as if no singular value were less than `10 √n ε ‖A‖`), Frobenius
norms, `ε` the machine epsilon of `A`'s dtype. Gaussian elimination with partial pivoting and QR reach that; elimination
without pivoting does not, since diagonal elements may be zero. `A` may be singular or non-contiguous. Determinants and
products of pivots neither overflow nor underflow. TF32 and half precision are not allowed.
"""

import torch

from kbx.suite import Property, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("linear-algebra",)
MAGNITUDES = (-52, 56)
DISTRIBUTIONS = ("standard", "uniform", "outliers", "zeros")

CASES = [
    dict(n=2),
    dict(n=13),
    dict(n=37),
    dict(n=11, zero_diagonal=True),
    dict(n=8, singular=True),
    dict(n=1),
    dict(n=5, batch=(7,)),
    dict(n=3, batch=(2, 7)),
    dict(n=6, strided=True),
    dict(n=16, dtype=torch.float64),
    dict(n=9, batch=(0,)),
    dict(n=0),
]

SIZES = [
    dict(n=16, near_permutation=True),
    dict(n=64, near_permutation=True),
    dict(n=256, near_permutation=True),
    dict(n=1024, near_permutation=True),
]


def det(A):
    return torch.linalg.det(A)


def inputs(make, n, batch=(), dtype=None, strided=False, zero_diagonal=False, singular=False, near_permutation=False):
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
    return call(make.strided(a) if strided else a)


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


def _eliminated(A, pivoting, signs=True):
    """Product of the pivots of Gaussian elimination."""
    work, n = A.clone(), A.shape[-1]
    result = torch.ones(A.shape[:-2], dtype=A.dtype, device=A.device)
    for j in range(n):
        if pivoting:
            place = work[..., j:, j].abs().argmax(-1) + j
            order = torch.arange(n, device=A.device).expand(A.shape[:-1]).clone()
            order.scatter_(-1, place.unsqueeze(-1), j)
            order[..., j] = place
            work = work.gather(-2, order.unsqueeze(-1).expand_as(work))
            result = torch.where((place != j) & torch.tensor(signs), -result, result)
        pivot = work[..., j, j]
        factor = work[..., j + 1 :, j] / torch.where(pivot == 0, 1, pivot).unsqueeze(-1)
        work[..., j + 1 :, :] -= factor.unsqueeze(-1) * work[..., j, :].unsqueeze(-2)
        result = result * pivot
    return result


def positive_elimination(A):
    return _eliminated(A, pivoting=True)


def positive_qr(A):
    q, r = torch.linalg.qr(A)
    return torch.linalg.det(q).round() * r.diagonal(dim1=-2, dim2=-1).prod(-1)


def negative_no_pivoting(A):
    return _eliminated(A, pivoting=False)


def negative_no_sign(A):
    """Forgets that a row exchange changes the sign."""
    return _eliminated(A, pivoting=True, signs=False)


def negative_absolute(A):
    return torch.linalg.det(A).abs()


def negative_diagonal(A):
    return A.diagonal(dim1=-2, dim2=-1).prod(-1)


def negative_logarithm(A):
    """The logarithm of the size."""
    return torch.linalg.slogdet(A).logabsdet
