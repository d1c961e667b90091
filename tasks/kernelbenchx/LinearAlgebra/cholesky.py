"""Cholesky factor of a symmetric or Hermitian positive definite matrix, or of each matrix of a batch.

`cholesky(A, *, upper=False, out=None)` returns the lower triangular `L` with `A = L @ Lᴴ` and a positive real diagonal;
with `upper=True` the upper triangular `U = Lᴴ`, so that `A = Uᴴ @ U`. `Lᴴ` is the conjugate transpose, for real matrices
the transpose. `A` is a float32, float64, complex64 or complex128 tensor of shape `(…, n, n)`, exactly symmetric
(complex: Hermitian), so either triangle may be read; the result has its shape and dtype. `upper` and `out` are passed
by name.

`out`: if given, a contiguous tensor of that shape and dtype; it is filled and returned.

The factor `F` is judged by what defines it, in units of the machine epsilon `ε` of `A`'s dtype, Frobenius norms, for every
matrix: `‖L Lᴴ - A‖ ≤ 10 n ε ‖A‖`, all elements of the other triangle exactly zero, all diagonal elements positive. Any
order of elimination reaches that, also where `A` has a condition number of 10⁵. `A` may be non-contiguous, `n` and the
batch may be 0, the strides of the result are free. TF32 and half precision are not allowed.
"""

import torch

from kbx.suite import Property, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("linear-algebra", "decomposition")
MAGNITUDES = (440,)
DISTRIBUTIONS = ("standard", "outliers", "small", "large")

CASES = [
    dict(n=2, dtype=torch.float64),
    dict(n=13, dtype=torch.complex64),
    dict(n=21, dtype=torch.float64),
    dict(n=37, upper=True, condition=1e5, dtype=torch.float64),
    dict(n=10, upper=True, dtype=torch.complex128),
    dict(n=1, dtype=torch.float64),
    dict(n=19, upper=True),
    dict(n=16, upper=True, dtype=torch.complex64, strided=True),
    dict(n=12, upper=True, dtype=torch.complex128, out=True),
    dict(n=6, batch=(2,), dtype=torch.float64),
    dict(n=0, dtype=torch.float64),
    dict(n=5, batch=(0,), dtype=torch.float64),
]

SIZES = [
    dict(n=16, dtype=torch.float64),
    dict(n=256, dtype=torch.complex64),
    dict(n=256, upper=True, dtype=torch.float64),
    dict(n=1024, dtype=torch.float64),
    dict(n=4096, dtype=torch.float64),
]


def cholesky(A: torch.Tensor, upper: bool = False, out: torch.Tensor = None) -> torch.Tensor:
    return torch.linalg.cholesky(A, upper=upper, out=out)


def inputs(make, n, batch=(), upper=False, condition=None, dtype=None, strided=False, out=False):
    if condition:
        a = n * make.spd(n, batch, condition, dtype)
    else:
        # Outliers as the published tests draw them are far larger than any of their matrices' elements.
        g = make.floats(*batch, n, 2 * n, dtype=dtype)
        g = g / (g.abs() / 4).clamp(min=1) if make.distribution == "outliers" else g
        a = g @ g.mH / 2
        a = (a + a.mH) / 2
    target = make.plain(*batch, n, n, dtype=dtype) if out else None
    return call(make.strided(a) if strided else a, upper=upper, out=target)


def check(args, kwargs, result, expected):
    a, factor = (t.to(torch.promote_types(t.dtype, torch.float64)) for t in (args[0], result))
    lower = factor.mH if kwargs["upper"] else factor
    unit = 10 * a.shape[-1] * torch.finfo(args[0].dtype).eps
    error, allowed = _norm(lower @ lower.mH - a), unit * _norm(a)
    complaints = []
    if not (error <= allowed).all():
        worst = (error - allowed).argmax()
        complaints.append(f"‖L Lᴴ - A‖ is {error.flatten()[worst]:.3g}, allowed {allowed.flatten()[worst]:.3g}")
    if (torch.triu(lower, 1) != 0).any():
        complaints.append("the factor is not triangular")
    diagonal = lower.diagonal(dim1=-2, dim2=-1)
    if not (diagonal.real > 0).all():
        complaints.append("the diagonal is not positive")
    # A pivot is the square of a diagonal element, and what is left of A's: its roundings are of A's size.
    if diagonal.is_complex() and not (diagonal.imag.abs() * diagonal.real <= unit * _norm(a)[..., None]).all():
        complaints.append("the diagonal is not real")
    return complaints


def _norm(matrix):
    """Frobenius norm of each matrix."""
    return matrix.abs().square().sum((-2, -1)).sqrt()


CONTRACT = Property(check)


def _given(lower, upper, out):
    result = lower.mH.resolve_conj() if upper else lower
    return result if out is None else out.copy_(result)


def positive_outer_products(A, upper=False, out=None):
    """One column after the other, each taken off what is left."""
    rest, lower = A.clone(), torch.zeros_like(A)
    for j in range(A.shape[-1]):
        column = rest[..., j:, j] / rest[..., j, j].real.sqrt().unsqueeze(-1)
        lower[..., j:, j] = column
        rest[..., j:, j:] -= column.unsqueeze(-1) * column.conj().unsqueeze(-2)
    return _given(lower, upper, out)


def positive_bordering(A, upper=False, out=None):
    """One row after the other, by forward substitution."""
    lower = torch.zeros_like(A)
    for i in range(A.shape[-1]):
        for j in range(i):
            known = (lower[..., i, :j] * lower[..., j, :j].conj()).sum(-1)
            lower[..., i, j] = (A[..., i, j] - known) / lower[..., j, j]
        lower[..., i, i] = (A[..., i, i].real - lower[..., i, :i].abs().square().sum(-1)).sqrt()
    return _given(lower, upper, out)


def negative_ignores_upper(A, upper=False, out=None):
    return torch.linalg.cholesky(A, out=out)


def negative_ignores_out(A, upper=False, out=None):
    return torch.linalg.cholesky(A, upper=upper)


def negative_other_triangle_left(A, upper=False, out=None):
    """In-place elimination that leaves A in the other triangle."""
    lower = torch.linalg.cholesky(A)
    return _given(lower + torch.triu(A, 1), upper, out)


def negative_negated_column(A, upper=False, out=None):
    """Reconstructs A with a negative diagonal element."""
    lower = torch.linalg.cholesky(A)
    lower[..., :1] *= -1
    return _given(lower, upper, out)


def negative_unit_factor(A, upper=False, out=None):
    """The factor of L D Lᵀ without the root of D."""
    lower = torch.linalg.cholesky(A)
    return _given(lower / lower.diagonal(dim1=-2, dim2=-1).unsqueeze(-2), upper, out)


def negative_upper_not_conjugated(A, upper=False, out=None):
    """The transpose in place of the conjugate transpose."""
    lower = torch.linalg.cholesky(A)
    result = lower.mT if upper else lower
    return result if out is None else out.copy_(result)
