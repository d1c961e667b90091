"""Singular value decomposition of a matrix, or of each matrix of a batch.

`svd(A, full_matrices=True)` returns a tuple `(U, S, Vh)` with `A = U diag(S) Vh`, the columns of `U` and the rows of `Vh`
orthonormal, and `S ≥ 0` in descending order. `A` is a float32 or float64 tensor of shape `(…, m, n)`; the results have its
dtype, and with `k = min(m, n)`:

| `full_matrices` | shape of `U` | shape of `S` | shape of `Vh` |
|-----------------|--------------|--------------|---------------|
| `True`          | `(…, m, m)`  | `(…, k)`     | `(…, n, n)`   |
| `False`         | `(…, m, k)`  | `(…, k)`     | `(…, k, n)`   |

With `full_matrices=True` the further columns of `U` or rows of `Vh` complete an orthonormal basis.

Signs, and bases for equal or zero singular values, are free, so the answer is judged by what defines it. With
`u = 60 max(m, n) ε`, `ε` the machine epsilon of `A`'s dtype, Frobenius norms, for every matrix: `‖U diag(S) Vh - A‖ ≤ u ‖A‖`,
`‖Uᵀ U - I‖ ≤ u`, `‖Vh Vhᵀ - I‖ ≤ u`. This holds for rank-deficient and zero matrices too. `A` may be non-contiguous, the
batch may be 0, the strides of the results are free.
"""

import torch

from kbx.suite import Property, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("linear-algebra", "decomposition", "not-unique")
MAGNITUDES = (-52, 56)
DISTRIBUTIONS = ("standard", "outliers", "small", "zeros")

CASES = [
    dict(shape=(19, 7)),
    dict(shape=(7, 12), full_matrices=False),
    dict(shape=(13, 13), condition=1e5),
    dict(shape=(2, 6, 10)),
    dict(shape=(11, 8), rank=3, full_matrices=False),
    dict(shape=(1, 1)),
    dict(shape=(17, 7), strided=True),
    dict(shape=(2, 3, 9, 5), full_matrices=False),
    dict(shape=(10, 6), dtype=torch.float64),
    dict(shape=(4, 4), rank=0),
    dict(shape=(0, 5, 4)),
]

SIZES = [
    dict(shape=(16, 16)),
    dict(shape=(64, 32, 32)),
    dict(shape=(64, 64)),
    dict(shape=(128, 128), full_matrices=False),
    dict(shape=(512, 64), full_matrices=False),
]


def svd(A, full_matrices=True):
    return torch.linalg.svd(A, full_matrices)


def inputs(make, shape, full_matrices=True, condition=None, rank=None, dtype=None, strided=False):
    *batch, m, n = shape
    if condition:
        a = make.well_conditioned(m, n, batch, condition, dtype) * 2 * max(m, n) ** 0.5
    elif rank is not None:
        right = make.floats(*batch, rank, n, dtype=dtype)
        a = make.plain(*batch, m, rank, dtype=dtype) @ (right / (right.abs() / 4).clamp(min=1))
    else:
        a = make.floats(*shape, dtype=dtype)
    return call(make.strided(a) if strided else a, full_matrices=full_matrices)


def check(args, kwargs, result, expected):
    a, (u, s, vh) = args[0].double(), (t.double() for t in result)
    unit = 60 * max(a.shape[-2:]) * torch.finfo(args[0].dtype).eps
    k = s.shape[-1]
    complaints = []
    if not (s >= 0).all() or (s.diff() > 0).any():
        complaints.append("the singular values are negative or not in descending order")
    product = (u[..., :k] * s.unsqueeze(-2)) @ vh[..., :k, :]
    size = _norm(a)
    _limit(complaints, "‖U diag(S) Vh - A‖", _norm(product - a), unit * size)
    _limit(complaints, "‖UᵀU - I‖", _norm(u.mT @ u - _identity(u.mT)), unit * torch.ones_like(size))
    _limit(complaints, "‖Vh Vhᵀ - I‖", _norm(vh @ vh.mT - _identity(vh)), unit * torch.ones_like(size))
    return complaints


def _identity(rows):
    return torch.eye(rows.shape[-2], dtype=rows.dtype, device=rows.device)


def _norm(matrix):
    """Frobenius norm of each matrix."""
    return matrix.square().sum((-2, -1)).sqrt()


def _limit(complaints, name, found, allowed):
    """Written so that NaN is a complaint."""
    if not (found <= allowed).all():
        worst = (found - allowed).argmax()
        complaints.append(f"{name} is {found.flatten()[worst]:.3g}, allowed {allowed.flatten()[worst]:.3g}")


CONTRACT = Property(check)


def positive_of_the_transpose(A, full_matrices=True):
    """Other signs, too."""
    u, s, vh = torch.linalg.svd(A.mT.contiguous(), full_matrices)
    return -vh.mT, s, -u.mT


def positive_jacobi(A, full_matrices=True):
    """Rotates pairs of columns of a triangular factor until all are orthogonal; the QR of that gives U."""
    if A.shape[-2] < A.shape[-1]:
        u, s, vh = positive_jacobi(A.mT, full_matrices)
        return vh.mT, s, u.mT
    q, r = torch.linalg.qr(A, "complete" if full_matrices else "reduced")
    n = A.shape[-1]
    w = r[..., :n, :].clone()
    v = torch.eye(n, dtype=A.dtype, device=A.device).expand(*A.shape[:-2], n, n).clone()
    for _ in range(10):
        for i in range(n):
            for j in range(i + 1, n):
                a, b, c = ((w[..., p] * w[..., k]).sum(-1, keepdim=True) for p, k in ((i, i), (j, j), (i, j)))
                angle = 0.5 * torch.atan2(2 * c, a - b)
                for t in (w, v):
                    x, y = t[..., i].clone(), t[..., j].clone()
                    t[..., i] = angle.cos() * x + angle.sin() * y
                    t[..., j] = angle.cos() * y - angle.sin() * x
    s, order = w.square().sum(-2).sqrt().sort(-1, descending=True)
    w, v = (t.gather(-1, order.unsqueeze(-2).expand_as(t)) for t in (w, v))
    basis, triangle = torch.linalg.qr(w)
    sign = torch.where(triangle.diagonal(dim1=-2, dim2=-1) < 0, -1.0, 1.0).to(A.dtype)
    u = torch.cat((q[..., :n] @ (basis * sign.unsqueeze(-2)), q[..., n:]), -1)
    return u, s, v.mT


def negative_v_not_transposed(A, full_matrices=True):
    u, s, vh = torch.linalg.svd(A, full_matrices)
    return u, s, vh.mT.reshape(vh.shape)


def negative_ascending(A, full_matrices=True):
    u, s, vh = torch.linalg.svd(A, full_matrices)
    k = s.shape[-1]
    order = torch.arange(k - 1, -1, -1, device=A.device)
    return torch.cat((u[..., order], u[..., k:]), -1), s[..., order], torch.cat((vh[..., order, :], vh[..., k:, :]), -2)


def negative_by_gram_matrix(A, full_matrices=True):
    """Eigenvectors of AᵀA, U by division: not orthogonal for small singular values."""
    u, s, vh = torch.linalg.svd(A, full_matrices)
    k = s.shape[-1]
    if A.shape[-2] >= A.shape[-1]:
        values, vectors = torch.linalg.eigh(A.mT @ A)
        vh = vectors.flip(-1).mT
        s = values.flip(-1).clamp(min=0).sqrt()
        u[..., :k] = A @ vh.mT / s.clamp(min=1e-30).unsqueeze(-2)
    return u, s, vh


def negative_basis_not_completed(A, full_matrices=True):
    """Leaves zeros where further basis vectors belong."""
    u, s, vh = torch.linalg.svd(A, full_matrices)
    u[..., s.shape[-1] :] = 0
    vh[..., s.shape[-1] :, :] = 0
    return u, s, vh


def negative_identity(A, full_matrices=True):
    """Right singular values with unit vectors."""
    u, s, vh = torch.linalg.svd(A, full_matrices)
    return (
        torch.zeros_like(u) + torch.eye(*u.shape[-2:]).to(u),
        s,
        torch.zeros_like(vh) + torch.eye(*vh.shape[-2:]).to(vh),
    )
