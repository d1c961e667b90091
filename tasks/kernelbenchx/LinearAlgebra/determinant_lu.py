"""Determinant by LU decomposition, of a square matrix or of each matrix of a batch.

`determinant_lu(A, *, pivot=True, out=None)` decomposes `A = P @ L @ U` and returns `det P · U_11 · … · U_nn`, the
determinant of `A`. `A` is a float32 or float64 tensor of shape `(…, n, n)`; the result has its dtype and batch shape `(…)`
(0-dimensional for one matrix). The determinant of a 0 x 0 matrix is 1.

- `pivot=True`: partial pivoting. `A` may then have zeros on its diagonal, or be singular.
- `pivot=False`: rows need not be exchanged (`P = I`). `A` is then such that elimination without exchanges is harmless:
  its diagonal dominates. The result is the same determinant, so exchanging rows is allowed.
- `out`: if given, a contiguous tensor of the result's shape and dtype; it is filled and returned.

The result `d` must be the determinant of a matrix that differs from `A` by rounding. To first order that means

    |d - det A| ≤ 10 √n ε (‖A‖ ‖adj A‖ + |det A|),

`adj A` the adjugate (`det A · A⁻¹` where that exists; as if no singular value were less than `10 √n ε ‖A‖`), Frobenius
norms, `ε` the machine epsilon of `A`'s dtype. `A` may be non-contiguous. Determinants and products of pivots neither
overflow nor underflow. TF32 and half precision are not allowed.
"""

import torch

from kbx.suite import Property, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("linear-algebra", "decomposition")
DISTRIBUTIONS = ("standard", "uniform", "outliers", "zeros")

CASES = [
    dict(n=2, positive=True),
    dict(n=5, positive=True, pivot=False, dominant=True),
    dict(n=13, positive=True, pivot=False, dominant=True),
    dict(n=11, positive=True, zero_diagonal=True),
    dict(n=17, positive=True),
    dict(n=1, positive=True),
    dict(n=7, positive=True, strided=True),
    dict(n=9, positive=True, out=True),
    dict(n=3, positive=True, batch=(2,)),
    dict(n=16, positive=True, dtype=torch.float64),
    dict(n=8, singular=True),
    dict(n=12, dominant=True, pivot=False),
    dict(n=0),
    dict(n=9, batch=(0,)),
]

SIZES = [
    dict(n=16, positive=True),
    dict(n=32, positive=True, pivot=False, dominant=True),
    dict(n=256, dominant=True, pivot=False),
    dict(n=1024, dominant=True),
]


def determinant_lu(A, *, pivot=True, out=None):
    # PyTorch has no LU without pivoting on the CPU; the determinant is the same.
    P, _, U = torch.linalg.lu(A, pivot=pivot or not A.is_cuda)
    result = U.diagonal(dim1=-2, dim2=-1).prod(-1)
    if P.numel():
        result = torch.linalg.det(P) * result
    return result if out is None else out.copy_(result)


def inputs(
    make, n, batch=(), pivot=True, dtype=None, strided=False, out=False,
    zero_diagonal=False, singular=False, dominant=False, positive=False,
):  # fmt: skip
    if positive:
        a = make.floats(*batch, n, n, dtype=dtype, low=1, high=6)
        a = _banded(make, a) if dominant else a
    elif dominant:
        # All pivots are about 1: the product of 1024 ordinary ones does not fit a float32.
        identity = torch.eye(n, device=make.device)
        a = identity + 0.5 / n * make.floats(*batch, n, n, dtype=dtype, low=-1, high=1)
        a = a[..., make.plain(n).argsort(), :] if pivot else a
    else:
        a = make.floats(*batch, n, n, dtype=dtype)
    if zero_diagonal:
        a.diagonal(dim1=-2, dim2=-1).zero_()
    if singular:
        a[..., -1, :] = a[..., 0, :] + a[..., 1, :]
    target = make.plain(*batch, dtype=dtype) if out else None
    return call(make.strided(a) if strided else a, pivot=pivot, out=target)


def _banded(make, a):
    """Two elements of each row between 1 and 2 beside one near 6 on the diagonal; where they are is random."""
    n, order = a.shape[-1], make.plain(a.shape[-1]).argsort()
    bands = torch.eye(n, device=a.device).roll(1, -1) + torch.eye(n, device=a.device).roll(2, -1)
    a = (1 + a / 6).clamp(max=2) * bands + torch.diag_embed(5 + a.diagonal(dim1=-2, dim2=-1) / 6)
    return a[..., order, :][..., order]


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


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_elimination(A, *, pivot=True, out=None):
    return _given(_eliminated(A, pivoting=pivot), out)


def positive_qr(A, *, pivot=True, out=None):
    q, r = torch.linalg.qr(A)
    return _given(torch.linalg.det(q).round() * r.diagonal(dim1=-2, dim2=-1).prod(-1), out)


def negative_never_pivots(A, *, pivot=True, out=None):
    return _given(_eliminated(A, pivoting=False), out)


def negative_no_sign(A, *, pivot=True, out=None):
    """Forgets that a row exchange changes the sign."""
    return _given(_eliminated(A, pivoting=True, signs=False), out)


def negative_diagonal_of_a(A, *, pivot=True, out=None):
    return _given(A.diagonal(dim1=-2, dim2=-1).prod(-1), out)


def negative_ignores_out(A, *, pivot=True, out=None):
    return torch.linalg.det(A)
