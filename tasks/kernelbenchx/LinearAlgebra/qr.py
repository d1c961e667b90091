"""QR decomposition of a matrix, or of each matrix of a batch.

`qr(A, mode='reduced', out=None)` returns a tuple `(Q, R)` with `A = Q @ R`, the columns of `Q` orthonormal and `R` upper
triangular. `A` is a float32 or float64 tensor of shape `(…, m, n)`; with `k = min(m, n)`:

| `mode`       | shape of `Q`      | shape of `R` |
|--------------|-------------------|--------------|
| `'reduced'`  | `(…, m, k)`       | `(…, k, n)`  |
| `'complete'` | `(…, m, m)`       | `(…, m, n)`  |
| `'r'`        | `(0,)`, no values | `(…, k, n)`  |

`out`: if given, a tuple of two contiguous tensors of these shapes; they are filled and returned.

The answer is not unique (the sign of each row of `R` and column of `Q` is free), so it is judged by what defines it, in
units of `A`'s machine epsilon `ε`, Frobenius norms, for every matrix: `‖Q R - A‖ ≤ 10 ε max(m, n) ‖A‖`,
`‖Qᵀ Q - I‖ ≤ 10 ε max(m, n)`, and every element of `R` below the diagonal is exactly zero. With `mode='r'` it is
`‖Rᵀ R - Aᵀ A‖ ≤ 10 ε max(m, n) ‖A‖²`. The orthogonality holds for ill-conditioned and rank-deficient `A` too, which
Householder reflections and Givens rotations give and one pass of Gram-Schmidt does not. `A` may be non-contiguous; the
strides of the results are free.
"""

import torch

from kbx.suite import Property, call

DIFFICULTY = 5
DTYPE = "float32"
TAGS = ("linear-algebra", "decomposition", "not-unique")
MAGNITUDES = (-52, 56)
DISTRIBUTIONS = ("standard", "outliers", "small", "zeros")

CASES = [
    dict(shape=(19, 7)),
    dict(shape=(7, 12)),
    dict(shape=(13, 13), condition=1e5),
    dict(shape=(2, 9, 5), mode="complete"),
    dict(shape=(11, 6), mode="r", dtype=torch.float64),
    dict(shape=(1, 1)),
    dict(shape=(17, 7), strided=True),
    dict(shape=(10, 6), out=True),
    dict(shape=(2, 3, 8, 5), mode="complete"),
    dict(shape=(0, 5, 4)),
]

SIZES = [
    dict(shape=(16, 16)),
    dict(shape=(128, 32, 32)),
    dict(shape=(256, 256)),
    dict(shape=(1024, 1024)),
]


def qr(A, mode="reduced", out=None):
    return torch.linalg.qr(A, mode, out=out)


def inputs(make, shape, mode="reduced", condition=None, dtype=None, strided=False, out=False):
    if condition:
        a = (
            make.well_conditioned(*shape[-2:], batch=shape[:-2], condition=condition, dtype=dtype)
            * 2
            * max(shape) ** 0.5
        )
    else:
        a = make.floats(*shape, dtype=dtype)
    target = None
    if out:
        k = min(shape[-2:])
        target = (make.plain(*shape[:-1], k, dtype=dtype), make.plain(*shape[:-2], k, shape[-1], dtype=dtype))
    return call(make.strided(a) if strided else a, mode=mode, out=target)


def check(args, kwargs, result, expected):
    """``result`` names what was returned and, where ``out`` was given, its contents."""
    a = args[0]
    if not isinstance(result, dict):
        return _complaints(a, *result, kwargs["mode"])
    answers = (result["output"], (result["out[0]"], result["out[1]"]))
    return [complaint for q, r in answers for complaint in _complaints(a, q, r, kwargs["mode"])]


def _complaints(a, q, r, mode):
    unit = 10 * torch.finfo(a.dtype).eps * max(a.shape[-2:])
    a, q, r = a.double(), q.double(), r.double()
    size = _norm(a)
    complaints = []
    if mode == "r":
        _limit(complaints, "‖RᵀR - AᵀA‖", _norm(r.mT @ r - a.mT @ a), unit * size * size)
    else:
        identity = torch.eye(q.shape[-1], dtype=q.dtype, device=q.device)
        _limit(complaints, "‖QR - A‖", _norm(q @ r - a), unit * size)
        _limit(complaints, "‖QᵀQ - I‖", _norm(q.mT @ q - identity), unit * torch.ones_like(size))
    below = torch.tril(r, -1)
    if (below != 0).any():
        complaints.append(f"R is not upper triangular: {below.abs().max():.3g} below the diagonal")
    return complaints


def _norm(matrix):
    """Frobenius norm of each matrix."""
    return matrix.square().sum((-2, -1)).sqrt()


def _limit(complaints, name, found, allowed):
    """Written so that NaN is a complaint."""
    if not (found <= allowed).all():
        worst = (found - allowed).argmax()
        complaints.append(f"{name} is {found.flatten()[worst]:.3g}, allowed {allowed.flatten()[worst]:.3g}")


CONTRACT = Property(check)


def _given(result, out):
    return result if out is None else tuple(t.copy_(r) for t, r in zip(out, result, strict=True))


def positive_householder(A, mode="reduced", out=None):
    """One reflection a column, applied to R and accumulated in Q."""
    m, n = A.shape[-2:]
    k = min(m, n)
    r = A.clone()
    q = torch.eye(m, dtype=A.dtype, device=A.device).expand(*A.shape[:-2], m, m).clone()
    for j in range(min(m - 1, n)):
        v = r[..., j:, j].clone()
        size = v.square().sum(-1).sqrt()
        v[..., 0] += torch.where(v[..., 0] < 0, -size, size)
        beta = v.square().sum(-1, keepdim=True)
        v = v / torch.where(beta > 0, beta, 1).sqrt()
        v = v.unsqueeze(-1)
        r[..., j:, :] -= 2 * v @ (v.mT @ r[..., j:, :])
        q[..., :, j:] -= 2 * (q[..., :, j:] @ v) @ v.mT
    r = torch.triu(r)
    if mode == "r":
        return _given((torch.empty(0, dtype=A.dtype, device=A.device), r[..., :k, :]), out)
    return _given((q, r) if mode == "complete" else (q[..., :k], r[..., :k, :]), out)


def positive_flipped_signs(A, mode="reduced", out=None):
    q, r = torch.linalg.qr(A, mode)
    return _given((q if mode == "r" else -q, -r), out)


def _gram_schmidt(A, q, r):
    """Orthogonalizes against the original column: one classical pass."""
    for j in range(q.shape[-1]):
        column = A[..., :, j : j + 1]
        parts = q[..., :, :j].mT @ column
        rest = column - q[..., :, :j] @ parts
        size = rest.square().sum(-2, keepdim=True).sqrt()
        q[..., :, j : j + 1] = rest / torch.where(size > 0, size, 1)
        r[..., :j, j : j + 1], r[..., j : j + 1, j : j + 1] = parts, size
    return q, r


def negative_classical_gram_schmidt(A, mode="reduced", out=None):
    if mode != "reduced" or A.shape[-2] < A.shape[-1]:
        return torch.linalg.qr(A, mode, out=out)
    q, r = torch.zeros_like(A).contiguous(), A.new_zeros(*A.shape[:-2], A.shape[-1], A.shape[-1])
    return _given(_gram_schmidt(A, q, r), out)


def negative_reflectors_left_below(A, mode="reduced", out=None):
    """R as LAPACK's factorization leaves it, with the reflectors below the diagonal."""
    q, r = torch.linalg.qr(A, mode)
    factored = torch.geqrf(A).a[..., : r.shape[-2], :]
    return _given((q, factored), out)


def negative_transposed_q(A, mode="reduced", out=None):
    q, r = torch.linalg.qr(A, mode)
    return _given((q.mT.reshape(q.shape) if mode != "r" else q, r), out)


def negative_identity_times_a(A, mode="reduced", out=None):
    """Reconstructs A perfectly and decomposes nothing."""
    q, r = torch.linalg.qr(A, mode)
    if mode == "r":
        return _given((q, A[..., : r.shape[-2], :]), out)
    identity = torch.eye(*q.shape[-2:], dtype=A.dtype, device=A.device).expand_as(q)
    return _given((identity, A[..., : r.shape[-2], :]), out)
