"""Moore-Penrose pseudoinverse by singular values, of a matrix or of each matrix of a batch.

`pseudoinverse_svd(A, full_matrices=True, rcond=1e-15, out=None)` decomposes `A = U diag(σ) Vᵀ`, `σ₁ ≥ σ₂ ≥ …`, and returns
`A⁺ = V diag(σ⁺) Uᵀ` with `σ⁺ᵢ = 1 / σᵢ` where `σᵢ > rcond · σ₁`, else 0. `A` is a float32 or float64 tensor of shape
`(…, m, n)` with `m, n ≥ 1`; the result has shape `(…, n, m)` and `A`'s dtype. The pseudoinverse of a zero matrix is zero.

- `full_matrices` says whether the decomposition computes all of `U` and `Vᵀ` or its first `min(m, n)` columns and rows; the
  result is the same.
- `rcond`: relative threshold. No singular value is near `rcond · σ₁`; with the default `A` has full rank or is zero.
- `out`: if given, a contiguous tensor of the result's shape and dtype; it is filled and returned.

The result `X` may differ from the exact one `A⁺` as far as rounding `A` changes that: for every matrix

    ‖X - A⁺‖ ≤ 10 √max(m, n) ε κ ‖A⁺‖,

Frobenius norms, `κ = σ₁ / σ_r` for the smallest singular value `σ_r` that is kept, `ε` the machine epsilon of `A`'s dtype.
The inverse of `Aᵀ A` has an error of `κ²` and is not enough. `A` may be non-contiguous and the batch may be 0; the strides of
the result are free. TF32 and half precision are not allowed.
"""

import torch

from kbx.suite import Property, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("linear-algebra", "decomposition")
MAGNITUDES = (-104, 96)
DISTRIBUTIONS = ("standard", "outliers", "small")

CASES = [
    dict(shape=(13, 5)),
    dict(shape=(7, 12), full_matrices=False),
    dict(shape=(10, 10), condition=1e3),
    dict(shape=(14, 6), condition=1e4, full_matrices=False),
    dict(shape=(23, 17), dtype=torch.float64),
    dict(shape=(1, 1)),
    dict(shape=(8, 11), strided=True),
    dict(shape=(9, 4), out=True),
    dict(shape=(3, 6, 9)),
    dict(shape=(2, 3, 9, 4), full_matrices=False),
    dict(shape=(11, 8), rank=3, rcond=1e-4),
    dict(shape=(9, 7), condition=1e3, rcond=2e-2),
    dict(shape=(4, 5), rank=0),
    dict(shape=(0, 5, 4)),
]

SIZES = [
    dict(shape=(16, 16), condition=10),
    dict(shape=(32, 16), condition=10),
    dict(shape=(64, 64), condition=100),
    dict(shape=(128, 128)),
    dict(shape=(256, 128), condition=100),
]


def pseudoinverse_svd(A, full_matrices=True, rcond=1e-15, out=None):
    U, S, Vh = torch.linalg.svd(A, full_matrices=False)
    cutoff = rcond * S[..., :1]
    inverse = torch.where(cutoff < S, 1 / S, 0)
    result = (Vh.mT * inverse.unsqueeze(-2)) @ U.mT
    return result if out is None else out.copy_(result)


def inputs(
    make, shape, rank=None, condition=None, full_matrices=True, rcond=1e-15, dtype=None, strided=False, out=False
):
    *batch, m, n = shape
    if condition:
        a = make.well_conditioned(m, n, batch, condition, dtype) * 2 * max(m, n) ** 0.5
    elif rank is not None:
        left, right = (make.well_conditioned(s, rank, batch, 3, dtype) for s in (m, n)) if rank else (None, None)
        a = max(m, n) ** 0.5 * left @ right.mT if rank else make.plain(*shape, dtype=dtype) * 0
    else:
        a = make.floats(*shape, dtype=dtype)
    target = make.plain(*batch, n, m, dtype=dtype) if out else None
    return call(make.strided(a) if strided else a, full_matrices=full_matrices, rcond=rcond, out=target)


def check(args, kwargs, result, expected):
    a = args[0]
    truth = pseudoinverse_svd(a.double(), rcond=kwargs["rcond"])
    unit = 10 * max(a.shape[-2:]) ** 0.5 * torch.finfo(a.dtype).eps
    condition = torch.linalg.svdvals(a.double())[..., 0] * torch.linalg.svdvals(truth)[..., 0]
    error, allowed = _norm(result.double() - truth), unit * condition * _norm(truth)
    if (error <= allowed).all():
        return []
    worst = (error - allowed).argmax()
    return [f"‖X - A⁺‖ is {error.flatten()[worst]:.3g}, allowed {allowed.flatten()[worst]:.3g}"]


def _norm(matrix):
    """Frobenius norm of each matrix."""
    return matrix.square().sum((-2, -1)).sqrt()


CONTRACT = Property(check)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_of_the_transpose(A, full_matrices=True, rcond=1e-15, out=None):
    return _given(pseudoinverse_svd(A.mT.contiguous(), rcond=rcond).mT, out)


def positive_qr_first(A, full_matrices=True, rcond=1e-15, out=None):
    """Decomposes the small triangle of a tall matrix only."""
    if A.shape[-2] < A.shape[-1]:
        return pseudoinverse_svd(A, rcond=rcond, out=out)
    q, r = torch.linalg.qr(A)
    return _given(pseudoinverse_svd(r, rcond=rcond) @ q.mT, out)


def negative_ignores_rcond(A, full_matrices=True, rcond=1e-15, out=None):
    return pseudoinverse_svd(A, out=out)


def negative_absolute_threshold(A, full_matrices=True, rcond=1e-15, out=None):
    """Compares singular values with rcond itself."""
    u, s, vh = torch.linalg.svd(A, full_matrices=False)
    return _given((vh.mT * torch.where(s > 10 * rcond, 1 / s, 0).unsqueeze(-2)) @ u.mT, out)


def negative_normal_equations(A, full_matrices=True, rcond=1e-15, out=None):
    """The inverse of AᵀA or AAᵀ where that exists."""
    if rcond > 1e-10 or not A.any():
        return pseudoinverse_svd(A, rcond=rcond, out=out)
    tall = A.shape[-2] >= A.shape[-1]
    gram = torch.linalg.inv_ex(A.mT @ A if tall else A @ A.mT).inverse
    return _given(gram @ A.mT if tall else A.mT @ gram, out)


def negative_no_zero_test(A, full_matrices=True, rcond=1e-15, out=None):
    """Inverts all singular values of a zero matrix."""
    result = pseudoinverse_svd(A, rcond=rcond)
    return _given(result if A.any() or not A.numel() else result + float("inf"), out)


def negative_ignores_out(A, full_matrices=True, rcond=1e-15, out=None):
    return pseudoinverse_svd(A, rcond=rcond)
