"""Eigenvalues and eigenvectors of a general square matrix, or of each matrix of a batch.

`eig(A)` returns a tuple `(λ, V)` with `A @ V = V @ diag(λ)`. `A` is a float32, float64, complex64 or complex128 tensor of
shape `(…, n, n)`; `λ` has shape `(…, n)`, `V` has shape `(…, n, n)` with the eigenvectors as columns. Both are complex, also
where all eigenvalues are real: complex64 for float32 and complex64 input, complex128 for the others. `A` is diagonalizable.

Neither the order of the eigenvalues nor the scale of the eigenvectors is unique, so the answer is judged by what defines
it, in units of `A`'s machine epsilon `ε`, Frobenius norms, for every matrix with `u = 10 n ε`:

- `‖A v - λ v‖ ≤ u ‖A‖` and `| ‖v‖ - 1 | ≤ u` for every pair;
- all eigenvalues are there, as often as they occur: `|Σ λ - tr A| ≤ u √n ‖A‖` and `|Σ λ² - tr A²| ≤ 2 u ‖A‖²`;
- the eigenvectors are a basis: the smallest singular value of `V` is at least a thousandth of that of LAPACK's.

Backward stable algorithms (Hessenberg form and shifted QR) reach that. `A` may be non-contiguous; the strides of the
results are free.
"""

import torch

from kbx.suite import Property, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("linear-algebra", "decomposition", "complex", "not-unique")
MAGNITUDES = (-104, 120)
DISTRIBUTIONS = ("standard", "uniform", "outliers", "small")

CASES = [
    dict(n=2),
    dict(n=13),
    dict(n=9, symmetric=True),
    dict(n=7, dtype=torch.float64),
    dict(n=5, diagonal=True),
    dict(n=1),
    dict(n=8, batch=(3,)),
    dict(n=6, strided=True),
    dict(n=4, batch=(2, 2)),
    dict(n=8, dtype=torch.complex64),
    dict(n=3, batch=(0,)),
]

SIZES = [
    dict(n=16),
    dict(n=31, dtype=torch.float64),
    dict(n=64),
    dict(n=96),
]


def eig(A):
    # On a GPU this needs MAGMA or a recent cuSOLVER, which not every build of PyTorch has.
    values, vectors = torch.linalg.eig(A.cpu())
    return values.to(A.device), vectors.to(A.device)


def inputs(make, n, batch=(), dtype=None, strided=False, symmetric=False, diagonal=False):
    a = make.floats(*batch, n, n, dtype=dtype)
    if symmetric:
        a = (a + a.mT) / 2
        a = a / (a.abs() / 3.25).clamp(min=1)
    if diagonal:
        # A double eigenvalue with two eigenvectors.
        d = make.floats(*batch, n, dtype=dtype)
        d += 0.5 * d.sign()
        d[..., 1] = d[..., 0]
        a = torch.diag_embed(d)
    return call(make.strided(a) if strided else a)


def check(args, kwargs, result, expected):
    a, (values, vectors) = args[0].cdouble(), result
    values, vectors = values.cdouble(), vectors.cdouble()
    n, size = a.shape[-1], _norm(a, (-2, -1))
    unit = 10 * n * torch.finfo(args[0].dtype).eps
    complaints = []
    residual = _norm(a @ vectors - vectors * values.unsqueeze(-2), -2)
    _limit(complaints, "‖A v - λ v‖", residual, unit * size.unsqueeze(-1).expand_as(residual))
    _limit(complaints, "| ‖v‖ - 1 |", (_norm(vectors, -2) - 1).abs(), unit * torch.ones_like(residual))
    trace = (values.sum(-1) - _trace(a)).abs()
    _limit(complaints, "|Σ λ - tr A|", trace, unit * n**0.5 * size)
    squares = (values.square().sum(-1) - _trace(a @ a)).abs()
    _limit(complaints, "|Σ λ² - tr A²|", squares, 2 * unit * size.square())
    if not complaints and vectors.numel():
        usual, found = (torch.linalg.svdvals(v.cdouble())[..., -1] for v in (expected[1], vectors))
        if not (found >= usual / 1000).all():
            complaints.append("the eigenvectors are linearly dependent")
    return complaints


def _trace(a):
    return a.diagonal(dim1=-2, dim2=-1).sum(-1)


def _norm(a, dim):
    return a.abs().square().sum(dim).sqrt()


def _limit(complaints, name, found, allowed):
    """Written so that NaN is a complaint."""
    if not (found <= allowed).all():
        worst = (found - allowed).argmax()
        complaints.append(f"{name} is {found.flatten()[worst]:.3g}, allowed {allowed.flatten()[worst]:.3g}")


CONTRACT = Property(check)


def positive_of_the_transpose(A):
    """Left eigenvectors of the transpose, in reverse order and with another phase."""
    values, vectors = torch.linalg.eig(A.mT.contiguous().cpu())
    vectors = torch.linalg.inv(vectors).mT if A.numel() else vectors
    vectors = vectors / torch.linalg.vector_norm(vectors, dim=-2, keepdim=True)
    return values.flip(-1).to(A.device), (1j * vectors.flip(-1)).to(A.device)


def positive_double_precision(A):
    values, vectors = torch.linalg.eig(A.cpu().to(torch.promote_types(A.dtype, torch.float64)))
    kind = torch.promote_types(A.dtype, torch.complex64)
    return values.to(A.device, kind), vectors.to(A.device, kind)


def negative_symmetric_part(A):
    """Reads one triangle alone."""
    values, vectors = torch.linalg.eigh(A)
    kind = torch.promote_types(A.dtype, torch.complex64)
    return values.to(kind), vectors.to(kind)


def negative_real_parts(A):
    values, vectors = eig(A)
    return values.real.to(values.dtype), vectors.real.to(vectors.dtype)


def negative_rows_are_vectors(A):
    values, vectors = eig(A)
    return values, vectors.mT


def negative_one_pair_repeated(A):
    """Every pair is right, but power iteration found the same one each time."""
    values, vectors = eig(A)
    return values[..., :1].expand_as(values).clone(), vectors[..., :1].expand_as(vectors).clone()


def negative_unnormalized(A):
    values, vectors = eig(A)
    return values, 2 * vectors


def negative_dependent_vectors(A):
    """The eigenvector of a double eigenvalue is returned twice."""
    values, vectors = eig(A)
    if vectors.shape[-1] > 1:
        same = (values[..., 1] == values[..., 0]).unsqueeze(-1)
        vectors[..., 1] = torch.where(same, vectors[..., 0], vectors[..., 1])
    return values, vectors
