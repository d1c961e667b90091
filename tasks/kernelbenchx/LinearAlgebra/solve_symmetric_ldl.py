"""Solution of linear equations with a symmetric or Hermitian, possibly indefinite matrix, by LDL factorization.

`solve_symmetric_ldl(A, b, hermitian=False, out=None)` returns `x` with `A @ x = b`. `A` has shape `(…, n, n)` and is invertible:

- `hermitian=False`: `A` is symmetric, `A = Aᵀ = L D Lᵀ`, whether real or complex;
- `hermitian=True`: `A` is Hermitian, `A = Aᴴ = L D Lᴴ`; for real matrices that is the same.

The symmetry is exact, so either triangle may be read. `A` is float32 or complex64, and `b` has its dtype.

- `b` is a batch of matrices `(…, n, k)`, and `x` has that shape; batch dimensions broadcast by PyTorch's rules.
- `b` is taken as a batch of vectors `(…, n)`, and `x` too, if it is one-dimensional or if its shape is exactly
  `A.shape[:-1]`.
- `out`: if given, a contiguous tensor of the result's shape and dtype; it is filled and returned.

`x` is judged by its backward error: every column must solve a system whose `A` and `b` differ from the given ones by
rounding,

    ‖A x - b‖ ≤ 10 n ε (‖A‖ ‖x‖ + ‖b‖),

Euclidean norms (Frobenius for `A`), `ε` the machine epsilon of the dtype. LDL with Bunch-Kaufman pivoting reaches that, and
so does any stable solver; 1 x 1 pivots alone do not, since diagonals may be zero. Arguments may be non-contiguous, `k` and
the batch may be 0, the strides of `x` are free. TF32 and half precision are not allowed.
"""

import torch

from kbx.suite import Property, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("linear-algebra", "solver", "decomposition", "complex", "not-unique")
MAGNITUDES = (-104, 120)
DISTRIBUTIONS = ("standard", "outliers", "small")

CASES = [
    dict(n=2, zero_diagonal=True),
    dict(n=13),
    dict(n=17, zero_diagonal=True, hermitian=True),
    dict(n=7, hermitian=True, dtype=torch.complex64),
    dict(n=11, dtype=torch.complex64),
    dict(n=1),
    dict(n=10, columns=3),
    dict(n=8, dtype=torch.complex64, strided=True),
    dict(n=9, zero_diagonal=True, out=True),
    dict(n=6, batch=(5,)),
    dict(n=9, columns=4, batch=(3, 1), right_batch=(1, 2)),
    dict(n=4, columns=0),
]

SIZES = [
    dict(n=16),
    dict(n=64, hermitian=True, dtype=torch.complex64),
    dict(n=256),
    dict(n=1024),
    dict(n=2048),
]


def solve_symmetric_ldl(A, b, hermitian=False, out=None):
    # L D Lᵀ is A again: the factors serve the solution only.
    return torch.linalg.solve(A, b, out=out)


def inputs(
    make, n, columns=None, batch=(), right_batch=None, hermitian=False, zero_diagonal=False, dtype=None, strided=False,
    out=False,
):  # fmt: skip
    a = make.floats(*batch, n, n, dtype=dtype)
    a = a / (a.abs() / 6).clamp(min=1)
    a = torch.tril(a) + (torch.tril(a, -1).mH if hermitian else torch.tril(a, -1).mT)
    diagonal = a.diagonal(dim1=-2, dim2=-1)
    if a.is_complex() and hermitian:
        diagonal.copy_(diagonal.real)
    if zero_diagonal:
        diagonal.zero_()
    right = (*(batch if right_batch is None else right_batch), n) + (() if columns is None else (columns,))
    b = make.floats(*right, dtype=dtype)
    target = make.plain(*right, dtype=dtype) if out else None
    if strided:
        a, b = make.strided(a), make.strided(b)
    return call(a, b, hermitian=hermitian, out=target)


def _is_vector(a, b):
    return b.dim() == 1 or b.shape == a.shape[:-1]


def check(args, kwargs, result, expected):
    a, b = args
    unit = 10 * torch.finfo(a.dtype).eps * a.shape[-1]
    if _is_vector(a, b):
        b, result = b.unsqueeze(-1), result.unsqueeze(-1)
    a, b, x = a.cdouble(), b.cdouble(), result.cdouble()
    size = a.abs().square().sum((-2, -1)).sqrt().unsqueeze(-1)
    error = _norm(a @ x - b)
    allowed = unit * (size * _norm(x) + _norm(b))
    if (error <= allowed).all():
        return []
    worst = (error - allowed).argmax()
    return [f"‖A x - b‖ is {error.flatten()[worst]:.3g}, allowed {allowed.flatten()[worst]:.3g}"]


def _norm(matrix):
    """Euclidean norm of each column."""
    return matrix.abs().square().sum(-2).sqrt()


CONTRACT = Property(check)


def _solved(A, b, solve, out):
    """Solves with matrices on both sides."""
    vector = _is_vector(A, b)
    right = b.unsqueeze(-1) if vector else b
    batch = torch.broadcast_shapes(A.shape[:-2], right.shape[:-2])
    x = solve(A.expand(*batch, *A.shape[-2:]), right.expand(*batch, *right.shape[-2:]))
    x = x.squeeze(-1) if vector else x
    return x if out is None else out.copy_(x)


def positive_eigenvectors(A, b, hermitian=False, out=None):
    """Eigenvectors instead of triangles, where the matrix is Hermitian."""
    if A.is_complex() and not hermitian:
        return _solved(A, b, lambda a, r: torch.linalg.solve(a.mT, r), out)

    def solve(a, right):
        values, vectors = torch.linalg.eigh(a)
        return vectors @ ((vectors.mH @ right) / values.unsqueeze(-1))

    return _solved(A, b, solve, out)


def positive_qr(A, b, hermitian=False, out=None):
    def solve(a, right):
        q, r = torch.linalg.qr(a)
        return torch.linalg.solve_triangular(r, q.mH @ right, upper=True)

    return _solved(A, b, solve, out)


def _eliminated(a, right):
    """1 x 1 pivots in order."""
    rest, x, n = a.clone(), right.clone(), a.shape[-1]
    for j in range(n):
        factor = rest[..., j + 1 :, j, None] / rest[..., j, j, None, None]
        x[..., j + 1 :, :] -= factor * x[..., j, None, :]
        rest[..., j + 1 :, :] -= factor * rest[..., j, None, :]
    return torch.linalg.solve_triangular(torch.triu(rest), x, upper=True)


def negative_no_pivoting(A, b, hermitian=False, out=None):
    return _solved(A, b, _eliminated, out)


def negative_diagonal_d(A, b, hermitian=False, out=None):
    """Takes the factor of D that has 2 x 2 blocks for a diagonal one."""

    def solve(a, right):
        packed, _ = torch.linalg.ldl_factor(a, hermitian=hermitian)
        lower = torch.tril(packed, -1) + torch.eye(a.shape[-1], dtype=a.dtype, device=a.device)
        product = (lower * packed.diagonal(dim1=-2, dim2=-1).unsqueeze(-2)) @ lower.mH
        return torch.linalg.solve_ex(product, right).result

    return _solved(A, b, solve, out)


def negative_hermitian_means_symmetric(A, b, hermitian=False, out=None):
    """Mirrors the lower triangle without conjugating it."""
    a = torch.tril(A) + torch.tril(A, -1).mT
    return _solved(a, b, torch.linalg.solve, out)


def negative_always_hermitian(A, b, hermitian=False, out=None):
    a = torch.tril(A) + torch.tril(A, -1).mH
    return _solved(a, b, torch.linalg.solve, out)


def negative_ignores_out(A, b, hermitian=False, out=None):
    return torch.linalg.solve(A, b)
