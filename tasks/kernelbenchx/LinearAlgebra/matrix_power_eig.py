"""Power of a square matrix by its eigenvalues, or of each matrix of a batch.

`matrix_power_eig(A, k, *, out=None)` returns `A^k = V diag(λ^k) V⁻¹` for the eigendecomposition `A = V diag(λ) V⁻¹`. `A` is a
float32, float64 or complex64 tensor of shape `(…, n, n)`, diagonalizable with well-conditioned eigenvectors.

- The result has `A`'s shape and is complex, also where `A` and its power are real: complex128 for float64, complex64
  otherwise.
- `k`: a Python int or float, positive, negative or fractional. `λ^k` is the principal power `exp(k log λ)`, the imaginary
  part of `log λ` in `(-π, π]`: the square root of -4 is 2i. With `k = 0` the result is the identity, with `k < 0` `A` is
  invertible. With fractional `k` real `A` may have negative eigenvalues; complex `A` has none near the negative real axis.
- `out`: if given, a contiguous tensor of the result's shape and dtype; it is filled and returned.

Any algorithm is allowed. Errors are judged relative to the whole power: its elements' root mean square counts where
an element is smaller. `A` may be non-contiguous, the batch may be 0, the strides of the result are free. TF32 and half
precision are not allowed.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("linear-algebra", "decomposition", "complex")
DISTRIBUTIONS = ("standard", "uniform", "outliers")

CASES = [
    dict(n=2, k=0.5, batch=(4,), rotation=True),
    dict(n=13, k=0.5),
    dict(n=7, k=0.5, negative=True),
    dict(n=11, k=2.0, dtype=torch.float64),
    dict(n=8, k=3, batch=(3,)),
    dict(n=9, k=0.5, dtype=torch.float64),
    dict(n=1, k=2),
    dict(n=6, k=2, strided=True),
    dict(n=4, k=3, batch=(2, 3)),
    dict(n=7, k=2, out=True),
    dict(n=6, k=-1.5),
    dict(n=5, k=0, batch=(2,)),
    dict(n=9, k=-1),
    dict(n=6, k=1.5, dtype=torch.complex64),
    dict(n=4, k=2, batch=(0,)),
]

SIZES = [
    dict(n=16, k=0.5),
    dict(n=16, k=2, batch=(32,)),
    dict(n=64, k=0.5),
    dict(n=96, k=3),
]


def magnitude(A, k, *, out=None):
    """In float64 the truth has the reference's own errors: those of an eigendecomposition grow with the order."""
    if A.dtype != torch.float64:
        return 0.0
    return A.shape[-1] * torch.linalg.matrix_norm(A, 2).max() ** k


CONTRACT = Close(scale=magnitude)


def matrix_power_eig(A: torch.Tensor, k: float, *, out: torch.Tensor = None) -> torch.Tensor:
    # On a GPU this needs MAGMA or a recent cuSOLVER, which not every build of PyTorch has.
    values, V = (t.to(A.device) for t in torch.linalg.eig(A.cpu()))
    result = V @ torch.diag_embed(values**k) @ torch.linalg.inv(V)
    return result if out is None else out.copy_(result)


def inputs(make, n, k, batch=(), rotation=False, negative=False, dtype=None, strided=False, out=False):
    if rotation:
        # Eigenvalues cos φ ± i sin φ.
        angle = make.plain(*batch, dtype=dtype, low=0.5, high=2.5)
        a = torch.stack((angle.cos(), -angle.sin(), angle.sin(), angle.cos()), -1).view(*batch, 2, 2)
    else:
        # Eigenvalues apart from each other and from zero, eigenvectors near the unit vectors.
        values = torch.linspace(1, 3, n, device=make.device)
        if negative:
            values[::2] *= -1
        a = torch.diag(values) + 0.3 / n**1.5 * make.floats(*batch, n, n, dtype=dtype, low=-1, high=1)
        similar = make.well_conditioned(n, n, batch, 3, a.dtype)
        a = similar @ a @ torch.linalg.inv(similar)
    kind = torch.promote_types(a.dtype, torch.complex64)
    target = torch.zeros(*batch, n, n, dtype=kind, device=a.device) if out else None
    return call(make.strided(a) if strided else a, k, out=target)


def _given(result, out):
    return result if out is None else out.copy_(result)


def _complex(A):
    return A.to(torch.promote_types(A.dtype, torch.complex64))


def positive_solve(A, k, *, out=None):
    """Logarithms and exponentials of the eigenvalues; solves with V transposed instead of inverting it."""
    values, V = torch.linalg.eig(A.cpu())
    powers = (k * values.log()).exp()
    result = torch.linalg.solve(V.mT, (V * powers.unsqueeze(-2)).mT).mT if A.numel() else V
    return _given(result.to(A.device), out)


def positive_products_and_roots(A, k, *, out=None):
    """Products for the whole part of k, a Newton iteration for the square root."""
    whole, a = int(k // 1), A
    result = torch.linalg.matrix_power(_complex(A), whole) if A.numel() else _complex(A)
    if k != whole:
        if torch.linalg.eigvals(A.cpu()).real.min() <= 0:
            return matrix_power_eig(A, k, out=out)
        a, z = _complex(A), torch.eye(A.shape[-1], dtype=A.dtype, device=A.device).expand_as(A)
        for _ in range(12):
            a, z = (a + torch.linalg.inv(z)) / 2, (z + torch.linalg.inv(a)) / 2
        result = result @ a
    return _given(result, out)


def negative_elementwise(A, k, *, out=None):
    return _given(_complex(A) ** k, out)


def negative_real_parts_of_the_eigenvalues(A, k, *, out=None):
    values, V = torch.linalg.eig(A.cpu())
    values = values.real.abs().to(values.dtype)
    return _given((V @ torch.diag_embed(values**k) @ torch.linalg.inv(V)).to(A.device), out)


def negative_orthogonal_vectors(A, k, *, out=None):
    """Takes the conjugate transpose for the inverse, right for symmetric matrices only."""
    values, V = torch.linalg.eig(A.cpu())
    return _given((V @ torch.diag_embed(values**k) @ V.mH).to(A.device), out)


def negative_rounded_exponent(A, k, *, out=None):
    return matrix_power_eig(A, round(k), out=out)


def negative_ignores_out(A, k, *, out=None):
    return matrix_power_eig(A, k)
