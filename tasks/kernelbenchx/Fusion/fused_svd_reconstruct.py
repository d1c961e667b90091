"""Singular value decomposition of a matrix, and the product of its factors.

`fused_svd_reconstruct(A)` decomposes `A = U diag(S) Vh` (orthonormal columns of `U` and rows of `Vh`, `S ≥ 0`) and returns the
product `U diag(S) Vh`, a new tensor. `A` is a float32 or float64 matrix of shape `(m, n)`; the result has its shape and dtype.

The product is `A` but for rounding, and is judged by that: `‖X - A‖ ≤ 10 max(m, n) ε ‖A‖`, Frobenius norms, `ε` the machine
epsilon of `A`'s dtype. This holds for rank-deficient and zero matrices too. `A` may be non-contiguous, the strides of the
result are free. TF32 and half precision are not allowed.
"""

import torch

from kbx.suite import Property, call

DIFFICULTY = 5
DTYPE = "float32"
TAGS = ("linear-algebra", "decomposition", "fusion")
MAGNITUDES = (-52, 120)
DISTRIBUTIONS = ("standard", "outliers", "small", "zeros")

CASES = [
    dict(shape=(1, 1)),
    dict(shape=(7, 12)),
    dict(shape=(13, 13)),
    dict(shape=(19, 7)),
    dict(shape=(31, 16)),
    dict(shape=(13, 13), condition=1e5),
    dict(shape=(19, 7), strided=True),
    dict(shape=(11, 8), rank=3),
    dict(shape=(5, 5), rank=0),
    dict(shape=(10, 6), dtype=torch.float64),
]

SIZES = [
    dict(shape=(16, 16)),
    dict(shape=(64, 64)),
    dict(shape=(128, 128)),
    dict(shape=(512, 64)),
]


def fused_svd_reconstruct(A: torch.Tensor) -> torch.Tensor:
    U, S, Vh = torch.linalg.svd(A, full_matrices=False)
    return (U * S) @ Vh


def inputs(make, shape, condition=None, rank=None, dtype=None, strided=False):
    """``rank``: of a matrix that also has a row of zeros."""
    m, n = shape
    if condition:
        a = make.well_conditioned(m, n, condition=condition, dtype=dtype)
    elif rank is not None:
        a = make.floats(m, rank, dtype=dtype) @ make.floats(rank, n, dtype=dtype)
        a[:1] = 0
    else:
        a = make.floats(m, n, dtype=dtype)
    return call(make.strided(a) if strided else a)


def check(args, kwargs, result, expected):
    a = args[0].double()
    error = (result.double() - a).norm()
    allowed = 10 * max(a.shape) * torch.finfo(args[0].dtype).eps * a.norm()
    return [] if error <= allowed else [f"‖X - A‖ is {error:.3g}, allowed {allowed:.3g}"]


CONTRACT = Property(check)


def positive_jacobi(A):
    """Rotates pairs of columns until all are orthogonal: U S and V."""
    w = A.clone()
    n = A.shape[1]
    v = torch.eye(n, dtype=A.dtype, device=A.device)
    for _ in range(8):
        for i in range(n):
            for j in range(i + 1, n):
                a, b, c = w[:, i].dot(w[:, i]), w[:, j].dot(w[:, j]), w[:, i].dot(w[:, j])
                angle = 0.5 * torch.atan2(2 * c, a - b)
                for t in (w, v):
                    x, y = t[:, i].clone(), t[:, j].clone()
                    t[:, i] = angle.cos() * x + angle.sin() * y
                    t[:, j] = angle.cos() * y - angle.sin() * x
    return w @ v.mT


def positive_term_by_term(A):
    u, s, vh = torch.linalg.svd(A)
    result = torch.zeros_like(A)
    for i in range(len(s)):
        result = result + s[i] * torch.outer(u[:, i], vh[i])
    return result


def negative_without_singular_values(A):
    u, _, vh = torch.linalg.svd(A, full_matrices=False)
    return u @ vh


def negative_last_term_missing(A):
    u, s, vh = torch.linalg.svd(A, full_matrices=False)
    return (u[:, :-1] * s[:-1]) @ vh[:-1]


def negative_v_for_vh(A):
    u, s, vh = torch.linalg.svd(A, full_matrices=False)
    return (u * s) @ vh.mT.reshape(vh.shape)


def negative_by_gram_matrix(A):
    """Singular values as roots of the eigenvalues of AᵀA, the small ones taken for zero."""
    values, v = torch.linalg.eigh(A.mT @ A)
    v = v * (values > 1e-4 * values.max())
    return A @ v @ v.mT


def negative_half_precision(A):
    u, s, vh = torch.linalg.svd(A, full_matrices=False)
    return ((u * s).half() @ vh.half()).to(A.dtype)
