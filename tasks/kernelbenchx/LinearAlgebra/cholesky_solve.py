"""Solution of linear equations whose matrix is given by its Cholesky factor.

`cholesky_solve(B, L, upper=False, out=None)` returns `X` with `A @ X = B`, where `A = L @ Lᵀ` for lower triangular `L`, or
`A = Lᵀ @ L` for upper triangular `L` with `upper=True`. Mind the order of the arguments.

- `B`: `(…, n, k)`, `L`: `(…, n, n)`, both float32 or both float64; batch dimensions broadcast by PyTorch's rules. `L` has
  a nonzero diagonal; its other triangle is not read and may hold any finite numbers.
- `out`: if given, a contiguous tensor of the result's shape; it is filled and returned.

`X` is judged by its backward error: every column must solve a system whose `A` and `b` differ from the given ones by
rounding,

    ‖A x - b‖ ≤ 10 n ε (‖L‖² ‖x‖ + ‖b‖),

Euclidean norms (Frobenius for `L`), `ε` the machine epsilon of the dtype. Two triangular substitutions reach that.
Arguments may be non-contiguous, `n`, `k` and the batch may be 0, the strides of `X` are free. TF32 and half precision are
not allowed.
"""

import torch

from kbx.suite import Property, broadcast, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("linear-algebra", "solver", "not-unique")
MAGNITUDES = (-104, 120)
DISTRIBUTIONS = ("standard", "outliers", "small")

CASES = [
    dict(n=2, k=1, batch=(3,), upper=True),
    dict(n=13, k=3),
    dict(n=37, k=5, upper=True, condition=1e4),
    dict(n=17, k=1, other=True),
    dict(n=6, k=3, batch=(4,), dtype=torch.float64),
    dict(n=1, k=1),
    dict(n=9, k=4, batch=(3,), strided=True),
    dict(n=12, k=3, upper=True, out=True, other=True),
    dict(n=5, k=4, batch=(3, 1), right_batch=(1, 2)),
    dict(n=7, k=2, batch=(2,), right_batch=(), upper=True),
    dict(n=4, k=0),
]

SIZES = [
    dict(n=16, k=10),
    dict(n=32, k=8, batch=(64,)),
    dict(n=1024, k=10),
    dict(n=2048, k=256, upper=True),
    dict(n=4096, k=64),
]


def cholesky_solve(B, L, upper=False, out=None):
    return torch.cholesky_solve(B, L, upper, out=out)


def inputs(
    make,
    n,
    k,
    batch=(),
    right_batch=None,
    upper=False,
    condition=1e2,
    dtype=None,
    strided=False,
    out=False,
    other=False,
):
    factor = torch.linalg.cholesky(2 * n * make.spd(n, batch, condition, dtype), upper=upper).contiguous()
    if other:
        rest = make.plain(*batch, n, n, dtype=dtype)
        factor = factor + (torch.tril(rest, -1) if upper else torch.triu(rest, 1))
    right = batch if right_batch is None else right_batch
    b = make.floats(*right, n, k, dtype=dtype)
    target = make.plain(*broadcast(batch, right), n, k, dtype=dtype) if out else None
    if strided:
        b, factor = make.strided(b), make.strided(factor)
    return call(b, factor, upper=upper, out=target)


def check(args, kwargs, result, expected):
    b, factor = args
    unit = 10 * torch.finfo(b.dtype).eps * b.shape[-2]
    b, factor, x = b.double(), factor.double(), result.double()
    lower = torch.triu(factor).mT if kwargs["upper"] else torch.tril(factor)
    error = _norm(lower @ (lower.mT @ x) - b)
    size = lower.square().sum((-2, -1)).unsqueeze(-1)
    allowed = unit * (size * _norm(x) + _norm(b))
    if (error <= allowed).all():
        return []
    worst = (error - allowed).argmax()
    return [f"‖A x - b‖ is {error.flatten()[worst]:.3g}, allowed {allowed.flatten()[worst]:.3g}"]


def _norm(matrix):
    """Euclidean norm of each column."""
    return matrix.square().sum(-2).sqrt()


CONTRACT = Property(check)


def _given(result, out):
    return result if out is None else out.copy_(result)


def _lower(L, upper):
    return torch.triu(L).mT if upper else torch.tril(L)


def positive_substitution(B, L, upper=False, out=None):
    """Row by row, forwards and then backwards."""
    lower, n = _lower(L, upper), L.shape[-1]
    batch = torch.broadcast_shapes(B.shape[:-2], L.shape[:-2])
    x = B.expand(*batch, *B.shape[-2:]).clone()
    for i in range(n):
        known = (lower[..., i, :i, None] * x[..., :i, :]).sum(-2)
        x[..., i, :] = (x[..., i, :] - known) / lower[..., i, i, None]
    for i in reversed(range(n)):
        known = (lower[..., i + 1 :, i, None] * x[..., i + 1 :, :]).sum(-2)
        x[..., i, :] = (x[..., i, :] - known) / lower[..., i, i, None]
    return _given(x, out)


def positive_solves_the_product(B, L, upper=False, out=None):
    lower = _lower(L, upper)
    return _given(torch.linalg.solve(lower @ lower.mT, B.expand(*_batch(B, L), *B.shape[-2:])), out)


def _batch(B, L):
    return torch.broadcast_shapes(B.shape[:-2], L.shape[:-2])


def negative_ignores_upper(B, L, upper=False, out=None):
    return torch.cholesky_solve(B, L, out=out)


def negative_forward_only(B, L, upper=False, out=None):
    return _given(torch.linalg.solve_triangular(_lower(L, upper), B, upper=False), out)


def negative_factors_swapped(B, L, upper=False, out=None):
    """Solves with Lᵀ L instead of L Lᵀ."""
    lower = _lower(L, upper)
    x = torch.linalg.solve_triangular(lower.mT, B, upper=True)
    return _given(torch.linalg.solve_triangular(lower, x, upper=False), out)


def negative_reads_other_triangle(B, L, upper=False, out=None):
    factor = L.mT if upper else L
    return _given(torch.linalg.solve(factor @ factor.mT, B.expand(*_batch(B, L), *B.shape[-2:])), out)


def negative_ignores_out(B, L, upper=False, out=None):
    return torch.cholesky_solve(B, L, upper)
