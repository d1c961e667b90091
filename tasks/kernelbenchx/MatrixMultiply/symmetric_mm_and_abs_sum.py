"""Sum of the absolute values of a matrix times its own transpose plus a matrix.

`symmetric_mm_and_abs_sum(A, C, alpha, beta)` with float32 `A` of shape `(n, m)` and `C` `(n, n)` computes

    R = alpha · (A @ Aᵀ) + beta · C,      result = sum over i, j of |R[i, j]|,

a float32 tensor without dimensions. `alpha` and `beta` are Python numbers. `C` need not be symmetric.

No argument is changed, `C` neither. Arguments may be non-contiguous; `n` and `m` may be 0 (`m = 0`: the product is
zero; `n = 0`: the result is 0). Products and sums are float32: TF32 and half precision are not allowed. Order of
summation is free, but one running sum over millions of elements is too inaccurate.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("matmul", "reduction", "fusion")
MAGNITUDES = (-104, 96)
SKIP_CONTROLS = {"permuted": "the result is one number", "constant": "the result is one number"}

CASES = [
    dict(n=37, m=45, beta=1.0),
    dict(n=33, m=17, alpha=0.75, beta=1.5),
    dict(n=20, m=70, alpha=0.5),
    dict(n=70, m=3, beta=2.0),
    dict(n=140, m=33),
    dict(n=1, m=1),
    dict(n=29, m=17, strided=True),
    dict(n=20, m=41, beta=0.0),
    dict(n=19, m=9, alpha=0.0),
    dict(n=43, m=7, alpha=-0.5),
    dict(n=31, m=23, beta=-1.5),
    dict(n=7, m=0),
    dict(n=0, m=5),
]

SIZES = [
    dict(n=16, m=16),
    dict(n=256, m=256),
    dict(n=2048, m=2048, alpha=1.0, beta=0.5),
    dict(n=4096, m=4096, alpha=0.5, beta=2.0),
]


def magnitude(A, C, alpha, beta):
    """Where the product and C nearly cancel, as in a matrix of one element, R errs by the size of its terms."""
    squares = A.square()
    return (alpha**2 * (squares @ squares.T) + beta**2 * C.square()).sum().sqrt()


# A sum of thousands of products in order errs more than PyTorch's, which may add up a tree: four times the usual room.
CONTRACT = Close(scale=magnitude, growth=4)


def symmetric_mm_and_abs_sum(A: torch.Tensor, C: torch.Tensor, alpha: float, beta: float) -> torch.Tensor:
    C = alpha * torch.mm(A, A.T) + beta * C
    return torch.sum(torch.abs(C))


def inputs(make, n, m, alpha=1.0, beta=0.5, strided=False):
    """A is scaled by m^(-1/4), so that the product does not drown C."""
    a, c = make.plain(n, m) * max(1, m) ** -0.25, make.floats(n, n)
    return call(*((make.strided(t) if strided else t) for t in (a, c)), alpha, beta)


def positive_split_sums(A, C, alpha, beta):
    """The product in four parts, then the sums of the rows."""
    R = sum(alpha * (a @ a.T) for a in A.tensor_split(4, 1)) + beta * C
    return R.abs().sum(1).sum()


def positive_both_halves(A, C, alpha, beta):
    """One half of the product, used for both halves of R."""
    half = torch.mm(A, A.T).tril()
    lower, upper = alpha * half + beta * C.tril(), alpha * half + beta * C.T.tril()
    return lower.abs().sum() + upper.tril(-1).abs().sum()


def negative_symmetric_c(A, C, alpha, beta):
    """Counts the lower half twice, as if C were symmetric."""
    R = (alpha * torch.mm(A, A.T) + beta * C).abs()
    return 2 * R.tril(-1).sum() + R.diagonal().sum()


def negative_no_abs(A, C, alpha, beta):
    return (alpha * torch.mm(A, A.T) + beta * C).sum()


def negative_abs_of_terms(A, C, alpha, beta):
    return (alpha * torch.mm(A, A.T)).abs().sum() + (beta * C).abs().sum()


def negative_ignores_beta(A, C, alpha, beta):
    return symmetric_mm_and_abs_sum(A, C, alpha, 1.0)


def negative_frobenius(A, C, alpha, beta):
    return (alpha * torch.mm(A, A.T) + beta * C).square().sum().sqrt()


def negative_fp16_product(A, C, alpha, beta):
    return symmetric_mm_and_abs_sum(A.half().to(A.dtype), C, alpha, beta)
