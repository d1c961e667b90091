"""Lower triangle of a matrix times another matrix, with two factors.

`tril_mm_and_scale(A, B, alpha, beta)` with float32 `A` of shape `(n, n)` and `B` `(n, p)` computes

    result[i, j] = beta · (alpha · sum over k ≤ i of A[i, k] · B[k, j]),

where `alpha` and `beta` are Python numbers. What lies above the diagonal of `A` counts as zero whatever it is, NaN and
infinity included.

The result is a new float32 `(n, p)` tensor with any strides. Arguments may be non-contiguous; `n` and `p` may be 0.
Products and sums are float32: TF32 and half precision are not allowed.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("matmul", "fusion")
MAGNITUDES = (-52, 56)

CASES = [
    dict(n=37, p=45, alpha=1.0, beta=0.75),
    dict(n=33, p=17, beta=2.0),
    dict(n=67, p=1, alpha=1.0),
    dict(n=101, p=5, alpha=0.75),
    dict(n=140, p=150),
    dict(n=1, p=1),
    dict(n=29, p=17, strided=True),
    dict(n=70, p=20, stray=True),
    dict(n=35, p=15, alpha=-1.5),
    dict(n=41, p=23, beta=-0.5),
    dict(n=9, p=19, beta=0.0),
    dict(n=0, p=5),
    dict(n=6, p=0),
]

SIZES = [
    dict(n=16, p=16),
    dict(n=256, p=256),
    dict(n=2048, p=2048),
    dict(n=4096, p=4096, alpha=1.0, beta=2.0),
]

# A sum of thousands of products in order errs more than PyTorch's, which may add up a tree: four times the usual room.
CONTRACT = Close(growth=4)


def tril_mm_and_scale(A: torch.Tensor, B: torch.Tensor, alpha: float, beta: float) -> torch.Tensor:
    return beta * (alpha * torch.mm(torch.tril(A), B))


def inputs(make, n, p, alpha=0.5, beta=0.5, stray=False, strided=False):
    a, b = make.floats(n, n), make.floats(n, p)
    if stray:
        a[torch.ones_like(a, dtype=torch.bool).triu(1)] = float("nan")
    return call(*((make.strided(t) if strided else t) for t in (a, b)), alpha, beta)


def positive_outer_products(A, B, alpha, beta):
    """One column of the triangle after the other, the factors multiplied beforehand."""
    acc, factor = torch.zeros_like(B), alpha * beta
    for k in range(len(A)):
        acc[k:] += factor * A[k:, k : k + 1] * B[k]
    return acc


def positive_row_by_row(A, B, alpha, beta):
    rows = [beta * (alpha * (A[i, : i + 1] @ B[: i + 1])) for i in range(len(A))]
    return torch.stack(rows) if rows else torch.empty_like(B)


def negative_whole_matrix(A, B, alpha, beta):
    return beta * (alpha * torch.mm(A, B))


def negative_upper(A, B, alpha, beta):
    return beta * (alpha * torch.mm(torch.triu(A), B))


def negative_without_diagonal(A, B, alpha, beta):
    return beta * (alpha * torch.mm(torch.tril(A, -1), B))


def negative_multiplied_mask(A, B, alpha, beta):
    """Zero times NaN is NaN."""
    return beta * (alpha * torch.mm(A * torch.ones_like(A).tril(), B))


def negative_ignores_beta(A, B, alpha, beta):
    return alpha * torch.mm(torch.tril(A), B)


def negative_tf32(A, B, alpha, beta):
    """Drops the 13 low bits of the mantissa, as a TF32 tensor core reads its operands."""
    a, b = ((t.contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32) for t in (A, B))
    return tril_mm_and_scale(a, b, alpha, beta)
