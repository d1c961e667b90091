"""Dot product of the first two rows of a scaled matrix product plus a scaled matrix.

`matrix_multiply_and_row_dot(A, B, alpha, beta, C)` with `A` of shape `(n, m)`, `B` `(m, p)` and `C` `(n, p)`, all
float32, and `n` at least 2 computes

    R = alpha · (A @ B) + beta · C,      result = sum over j of R[0, j] · R[1, j],

a float32 tensor without dimensions. Only the first two rows of `A` and `C` matter; the others may hold NaN. `alpha` and
`beta` are Python numbers, multiplied as written: a NaN in the first rows of `C` reaches the result also where `beta` is
0.

No argument is changed, `C` neither. Arguments may be non-contiguous, `m` and `p` may be 0 (`m = 0`: the product is
zero; `p = 0`: the result is 0). Products and sums are float32: TF32 and half precision are not allowed.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("matmul", "reduction", "fusion")
MAGNITUDES = (-52, 56)
SKIP_CONTROLS = {"permuted": "the result is one number", "constant": "the result is one number"}

CASES = [
    dict(n=2, m=45, p=53),
    dict(n=37, m=33, p=17, alpha=1.5, beta=0.5),
    dict(n=3, m=257, p=9, beta=0.0),
    dict(n=5, m=64, p=130, alpha=0.5),
    dict(n=19, m=8, p=301, alpha=2.0, beta=0.75),
    dict(n=2, m=1, p=1),
    dict(n=29, m=33, p=17, strided=True),
    dict(n=5, m=64, p=130, stray=True),
    dict(n=9, m=31, p=43, alpha=-0.5),
    dict(n=11, m=8, p=67, alpha=0.0),
    dict(n=13, m=19, p=41, beta=-1.5),
    dict(n=4, m=0, p=21),
    dict(n=6, m=7, p=0),
]

SIZES = [
    dict(n=256, m=256, p=256),
    dict(n=2176, m=2176, p=2176),
    dict(n=4096, m=4096, p=4096),
    dict(n=512, m=8192, p=8192, alpha=0.5, beta=0.5),
]


def magnitude(A, B, alpha, beta, C):
    """Each entry of the two rows errs by the size of its own terms, and that error is multiplied by the other row."""
    a, c = A[:2], C[:2]
    one, other = alpha * (a @ B) + beta * c
    errors = alpha**2 * (a.square() @ B.square()) + beta**2 * c.square()
    return ((one * other).square() + one.square() * errors[1] + other.square() * errors[0]).sum().sqrt()


# A sum of thousands of products in order errs more than PyTorch's, which may add up a tree: four times the usual room.
CONTRACT = Close(scale=magnitude, growth=4)


def matrix_multiply_and_row_dot(
    A: torch.Tensor, B: torch.Tensor, alpha: float, beta: float, C: torch.Tensor
) -> torch.Tensor:
    C = alpha * torch.mm(A, B) + beta * C
    return torch.dot(C[0], C[1])


def inputs(make, n, m, p, alpha=1.0, beta=1.0, stray=False, strided=False):
    a, b, c = make.floats(n, m), make.plain(m, p), make.floats(n, p)
    if stray:
        c[2:] = float("nan")
    if strided:
        a, b, c = make.strided(a), make.strided(b), make.strided(c)
    return call(a, b, alpha, beta, c)


def positive_two_rows(A, B, alpha, beta, C):
    """Two matrix-vector products, each in four parts, and a sum by elements."""
    parts = zip(A[:2].tensor_split(4, 1), B.tensor_split(4, 0), strict=True)
    rows = sum(alpha * (a @ b) for a, b in parts) + beta * C[:2]
    return (rows[0] * rows[1]).sum()


def positive_sequential(A, B, alpha, beta, C):
    """One product after the other in the sum of the dot product."""
    rows = alpha * torch.mm(A[:2], B) + beta * C[:2]
    total = rows.new_zeros(())
    for term in (rows[0] * rows[1]).unbind():
        total = total + term
    return total


def negative_no_c(A, B, alpha, beta, C):
    return matrix_multiply_and_row_dot(A, B, alpha, 0.0, torch.zeros_like(C))


def negative_ignores_alpha(A, B, alpha, beta, C):
    return matrix_multiply_and_row_dot(A, B, 1.0, beta, C)


def negative_first_row_twice(A, B, alpha, beta, C):
    row = alpha * torch.mv(B.T, A[0]) + beta * C[0]
    return torch.dot(row, row)


def negative_columns(A, B, alpha, beta, C):
    """Multiplies the first two columns."""
    R = alpha * torch.mm(A, B) + beta * C
    return torch.dot(R[:, 0], R[:, min(1, R.shape[1] - 1)]) if R.shape[1] else R.new_zeros(())


def negative_fp16_product(A, B, alpha, beta, C):
    return matrix_multiply_and_row_dot(A.half().to(A.dtype), B.half().to(B.dtype), alpha, beta, C)
