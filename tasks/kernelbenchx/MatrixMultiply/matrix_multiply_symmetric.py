"""A scaled matrix product plus a matrix, then the same with the result and its transpose.

`matrix_multiply_symmetric(A, B, C, alpha, beta)` with float32 `A` of shape `(n, m)`, `B` `(m, n)` and `C` `(n, n)`
computes

    R = alpha · (A @ B) + beta · C,      result = alpha · (R @ Rᵀ) + beta · R,

where `alpha` and `beta` are Python numbers; the same two are used in both steps. `R` itself is not symmetric, so
neither is the result.

The result is a new float32 `(n, n)` tensor with any strides; no argument is changed, `C` neither. Arguments may be
non-contiguous; `n` and `m` may be 0 (`m = 0`: `A @ B` is zero). Products and sums are float32: TF32 and half precision
are not allowed.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("matmul", "fusion")
MAGNITUDES = (-104, 56)

CASES = [
    dict(n=37, m=45, alpha=1.0, beta=0.5),
    dict(n=33, m=17, alpha=2.0, beta=1.5),
    dict(n=20, m=70, alpha=0.5, beta=0.5),
    dict(n=61, m=31, alpha=0.75, beta=2.0),
    dict(n=140, m=33, alpha=0.5, beta=1.0),
    dict(n=1, m=1, alpha=1.0, beta=0.5),
    dict(n=29, m=17, alpha=1.0, beta=1.5, strided=True),
    dict(n=20, m=41, alpha=0.5, beta=0.0),
    dict(n=19, m=9, alpha=0.0, beta=1.5),
    dict(n=23, m=13, alpha=-2.0, beta=0.5),
    dict(n=31, m=27, alpha=0.5, beta=-1.0),
    dict(n=7, m=0, alpha=1.5, beta=0.5),
    dict(n=0, m=5, alpha=1.0, beta=1.0),
]

SIZES = [
    dict(n=256, m=256, alpha=1.0, beta=0.5),
    dict(n=1024, m=512, alpha=0.5, beta=2.0),
    dict(n=2176, m=2176, alpha=1.0, beta=0.5),
    dict(n=4096, m=4096, alpha=1.0, beta=0.5),
]


def magnitude(A, B, C, alpha, beta):
    """The first step errs by the size of its terms, and the second multiplies these errors by the other factor."""
    squares = (alpha * torch.mm(A, B) + beta * C).square()
    errors = alpha**2 * torch.mm(A.square(), B.square()) + beta**2 * C.square()
    return (alpha**2 * (squares @ errors.T + errors @ squares.T) + beta**2 * errors).sqrt()


# A sum of thousands of products in order errs more than PyTorch's, which may add up a tree: four times the usual room.
CONTRACT = Close(scale=magnitude, growth=4)


def matrix_multiply_symmetric(
    A: torch.Tensor, B: torch.Tensor, C: torch.Tensor, alpha: float, beta: float
) -> torch.Tensor:
    C = alpha * torch.mm(A, B) + beta * C
    return alpha * torch.mm(C, C.T) + beta * C


def inputs(make, n, m, alpha, beta, strided=False):
    """B is scaled by 1/sqrt(m), so that the product does not drown C."""
    a, b, c = make.floats(n, m), make.plain(m, n) * max(1, m) ** -0.5, make.floats(n, n)
    return call(*((make.strided(t) if strided else t) for t in (a, b, c)), alpha, beta)


def positive_split_sums(A, B, C, alpha, beta):
    """Both products in four parts, the factors applied to the parts."""
    R = sum(alpha * (a @ b) for a, b in zip(A.tensor_split(4, 1), B.tensor_split(4, 0), strict=True)) + beta * C
    return sum(alpha * (r @ r.T) for r in R.tensor_split(4, 1)) + beta * R


def positive_one_product(A, B, C, alpha, beta):
    """R @ (alpha R + beta I)ᵀ: the last addition moved into the product."""
    R = torch.addmm(C, A, B, beta=beta, alpha=alpha)
    return R @ (alpha * R + beta * torch.eye(len(R), dtype=R.dtype, device=R.device)).T


def negative_no_transpose(A, B, C, alpha, beta):
    R = alpha * torch.mm(A, B) + beta * C
    return alpha * torch.mm(R, R) + beta * R


def negative_adds_original_c(A, B, C, alpha, beta):
    """Takes C instead of R in the last addition."""
    R = alpha * torch.mm(A, B) + beta * C
    return alpha * torch.mm(R, R.T) + beta * C


def negative_mirrors_lower_half(A, B, C, alpha, beta):
    """Takes the result to be symmetric."""
    lower = matrix_multiply_symmetric(A, B, C, alpha, beta).tril()
    return lower + lower.tril(-1).T


def negative_alpha_once(A, B, C, alpha, beta):
    R = alpha * torch.mm(A, B) + beta * C
    return torch.mm(R, R.T) + beta * R


def negative_tf32(A, B, C, alpha, beta):
    """Drops the 13 low bits of the mantissa, as a TF32 tensor core reads its operands."""
    a, b = ((t.contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32) for t in (A, B))
    return matrix_multiply_symmetric(a, b, C, alpha, beta)
