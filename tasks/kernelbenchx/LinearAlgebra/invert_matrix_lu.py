"""Inverse by LU decomposition, of a square matrix or of each matrix of a batch.

`invert_matrix_lu(A, *, pivot=True, out=None)` decomposes `A = P @ L @ U` (`P` a permutation, `L` unit lower triangular, `U`
upper triangular) and returns `A⁻¹ = U⁻¹ @ L⁻¹ @ P`. `A` is an invertible float32 or float64 tensor of shape `(…, n, n)`; the
result has its shape and dtype.

- `pivot=True`: partial pivoting is needed, diagonal elements may be zero. The pivots are clear, and the permutation is its
  own inverse (`P = Pᵀ`): it exchanges pairs of rows.
- `pivot=False`: `P = I`. `A` is then such that elimination without exchanges is harmless: each element of the diagonal is by
  far the largest of its column, at the latest when its turn comes. The result is the same inverse, so exchanging rows is
  allowed.
- `out`: if given, a contiguous tensor of `A`'s shape and dtype; it is filled and returned.

The result `X` is judged by its residual, for every matrix: the smaller one of `‖A X - I‖` and `‖X A - I‖` is at most
`10 n ε ‖A‖ ‖X‖`, Frobenius norms, `ε` the machine epsilon of `A`'s dtype. `A` may be non-contiguous, the batch may be 0, the
strides of the result are free. TF32 and half precision are not allowed.
"""

import torch

from kbx.suite import Property, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("linear-algebra", "decomposition")
DISTRIBUTIONS = ("standard", "uniform", "outliers", "small")

CASES = [
    dict(n=2, positive=True),
    dict(n=13, positive=True),
    dict(n=5, positive=True, pivot=False),
    dict(n=23, positive=True, pivot=False),
    dict(n=8, positive=True),
    dict(n=1, positive=True),
    dict(n=7, positive=True, strided=True),
    dict(n=6, positive=True, pivot=False, out=True),
    dict(n=4, positive=True, batch=(5,)),
    dict(n=16, positive=True, dtype=torch.float64),
    dict(n=19, zero_diagonal=True),
    dict(n=12, pivot=False),
    dict(n=5, batch=(0,)),
]

SIZES = [
    dict(n=16, positive=True),
    dict(n=64, pivot=False),
    dict(n=256, pivot=False),
    dict(n=1024),
    dict(n=2048),
]


def invert_matrix_lu(A, *, pivot=True, out=None):
    # PyTorch has no LU without pivoting on the CPU; the inverse is the same.
    pivot = pivot or not A.is_cuda
    P, L, U = torch.linalg.lu(A, pivot=pivot)
    right = P if pivot else torch.eye(A.shape[-1], dtype=A.dtype, device=A.device).expand_as(A)
    Y = torch.linalg.solve_triangular(L, right, upper=False, unitriangular=True)
    result = torch.linalg.solve_triangular(U, Y, upper=True)
    return result if out is None else out.copy_(result)


def inputs(
    make, n, batch=(), pivot=True, zero_diagonal=False, positive=False, dtype=None, strided=False, out=False
):  # fmt: skip
    a = _positive(make, n, batch, dtype) if positive else _dominated(make, n, batch, dtype)
    if pivot:
        apart = 2 if positive and n >= 4 else 1
        count = n - n % (2 * apart)
        rows = torch.arange(count, device=make.device).view(-1, 2, apart).flip(1).flatten()
        a = torch.cat((a[..., rows, :], a[..., count:, :]), -2)
    if zero_diagonal:
        a.diagonal(dim1=-2, dim2=-1)[..., : n - n % 2].zero_()
    target = make.plain(*batch, n, n, dtype=dtype) if out else None
    return call(make.strided(a) if strided else a, pivot=pivot, out=target)


def _dominated(make, n, batch, dtype):
    """Columns whose largest element by far is on the diagonal."""
    dominant = torch.diag_embed(make.plain(*batch, n, dtype=dtype, low=1, high=2))
    return dominant + make.floats(*batch, n, n, dtype=dtype, low=-1, high=1) / n


def _positive(make, n, batch, dtype):
    """Little more than 3, and nearly 6 on the diagonal, so that each pivot is the largest element of its column when its turn comes.

    With rows two apart exchanged, the second pivot is 0 if rows stay where they are.
    """
    noise = make.floats(*batch, n, n, dtype=dtype, low=0, high=1) / (4 * n)
    noise[..., 2:4, :2] = 0
    return 3 + noise + torch.diag_embed(make.plain(*batch, n, dtype=dtype, low=2, high=2.75))


def check(args, kwargs, result, expected):
    a, x = args[0].double(), result.double()
    unit = 10 * a.shape[-1] * torch.finfo(args[0].dtype).eps
    identity = torch.eye(a.shape[-1], dtype=a.dtype, device=a.device)
    error = torch.minimum(_norm(a @ x - identity), _norm(x @ a - identity))
    allowed = unit * _norm(a) * _norm(x)
    if (error <= allowed).all():
        return []
    worst = (error - allowed).argmax()
    return [f"‖A X - I‖ is {error.flatten()[worst]:.3g}, allowed {allowed.flatten()[worst]:.3g}"]


def _norm(matrix):
    """Frobenius norm of each matrix."""
    return matrix.square().sum((-2, -1)).sqrt()


CONTRACT = Property(check)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_gauss_jordan(A, *, pivot=True, out=None):
    """Eliminates above and below the pivot, in A beside the identity."""
    return _given(_gauss_jordan(A, pivot), out)


def _gauss_jordan(A, pivoting):
    n = A.shape[-1]
    work = torch.cat((A, torch.eye(n, dtype=A.dtype, device=A.device).expand_as(A)), -1)
    for j in range(n):
        place = work[..., j:, j].abs().argmax(-1) + j if pivoting else torch.full(A.shape[:-2], j, device=A.device)
        order = torch.arange(n, device=A.device).expand(A.shape[:-1]).clone()
        order.scatter_(-1, place.unsqueeze(-1), j)
        order[..., j] = place
        work = work.gather(-2, order.unsqueeze(-1).expand_as(work))
        row = work[..., j : j + 1, :] / work[..., j : j + 1, j : j + 1]
        factor = work[..., :, j : j + 1].clone()
        factor[..., j, :] = 0
        work = work - factor * row
        work[..., j : j + 1, :] = row
    return work[..., n:]


def positive_qr(A, *, pivot=True, out=None):
    q, r = torch.linalg.qr(A)
    return _given(torch.linalg.solve_triangular(r, q.mT, upper=True), out)


def negative_never_pivots(A, *, pivot=True, out=None):
    return _given(_gauss_jordan(A, False), out)


def negative_forgets_permutation(A, *, pivot=True, out=None):
    _, L, U = torch.linalg.lu(A)
    return _given(torch.linalg.inv(L @ U), out)


def negative_transposed(A, *, pivot=True, out=None):
    return _given(torch.linalg.inv(A).mT, out)


def negative_l_not_unit(A, *, pivot=True, out=None):
    """Takes the diagonal of the packed factors for both triangles."""
    P, L, U = torch.linalg.lu(A)
    diagonal = U.diagonal(dim1=-2, dim2=-1)
    L = torch.tril(L, -1) + torch.diag_embed(diagonal)
    return _given(torch.linalg.inv(L @ U) @ P.mT, out)


def negative_ignores_out(A, *, pivot=True, out=None):
    return torch.linalg.inv(A)
