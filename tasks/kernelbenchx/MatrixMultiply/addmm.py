"""Matrix product plus a matrix, each with a factor.

`addmm(input, mat1, mat2, beta=1, alpha=1, out=None)` computes `beta · input + alpha · (mat1 @ mat2)`.

- `mat1`: `(M, K)`, `mat2`: `(K, N)`, `input`: broadcastable to `(M, N)`, all float32.
- `beta`, `alpha`: Python numbers. With `beta == 0` `input` is not read: NaN and infinity in it do not reach the result.
- `out`: if given, a contiguous float32 `(M, N)` tensor; it is filled and returned.

Arguments may be non-contiguous, and `M`, `N` or `K` may be 0 (`K = 0`: the product is zero). Without `out` the result is a
new, contiguous tensor. Products and sums are float32: TF32 and half precision are not allowed.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("matmul", "broadcast", "compute-bound")
MAGNITUDES = (-104, 56)

CASES = [
    dict(m=33, n=21, k=40),
    dict(m=37, n=53, k=45, beta=0.5, alpha=2.0),
    dict(m=3, n=67, k=257, alpha=1.5),
    dict(m=20, n=35, k=70, beta=0.0),
    dict(m=140, n=150, k=33, beta=0.75),
    dict(m=1, n=1, k=1),
    dict(m=33, n=17, k=64, strided=True),
    dict(m=19, n=9, k=257, out=True),
    dict(m=19, n=9, k=37, added=(19, 1)),
    dict(m=23, n=17, k=31, added=(17,)),
    dict(m=35, n=11, k=29, alpha=-2.0),
    dict(m=9, n=41, k=37, beta=-1.5),
    dict(m=20, n=35, k=70, beta=0, nan=True, alpha=1.5),
    dict(m=7, n=5, k=0),
    dict(m=0, n=5, k=8),
]

SIZES = [
    dict(m=256, n=256, k=256),
    dict(m=1024, n=1024, k=1024),
    dict(m=2048, n=2048, k=2048, alpha=2.0),
    dict(m=4096, n=8192, k=4096),
]

# A sum of thousands of products in order errs more than PyTorch's, which may add up a tree: four times the usual room.
CONTRACT = Close(strides="contiguous", growth=4)


def addmm(
    input: torch.Tensor,
    mat1: torch.Tensor,
    mat2: torch.Tensor,
    beta: float = 1,
    alpha: float = 1,
    out: torch.Tensor = None,
) -> torch.Tensor:
    return torch.addmm(input, mat1, mat2, beta=beta, alpha=alpha, out=out)


def inputs(make, m, n, k, added=None, beta=1, alpha=1, nan=False, strided=False, out=False):
    x, a, b = make.floats(*(added or (m, n))), make.floats(m, k), make.floats(k, n)
    if nan:
        x.fill_(float("nan"))
    if strided:
        x, a, b = make.strided(x), make.strided(a), make.strided(b)
    return call(x, a, b, beta=beta, alpha=alpha, out=make.plain(m, n) if out else None)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_split_k(input, mat1, mat2, beta=1, alpha=1, out=None):
    """Four partial products, alpha applied to each."""
    parts = zip(mat1.tensor_split(4, 1), mat2.tensor_split(4, 0), strict=True)
    product = sum(alpha * (a @ b) for a, b in parts)
    return _given(product if beta == 0 else product + beta * input, out)


def negative_ignores_beta(input, mat1, mat2, beta=1, alpha=1, out=None):
    return torch.addmm(input, mat1, mat2, alpha=alpha, out=out)


def negative_ignores_alpha(input, mat1, mat2, beta=1, alpha=1, out=None):
    return torch.addmm(input, mat1, mat2, beta=beta, out=out)


def negative_reads_input_at_beta_zero(input, mat1, mat2, beta=1, alpha=1, out=None):
    return _given(beta * input + alpha * (mat1 @ mat2), out)


def negative_ignores_out(input, mat1, mat2, beta=1, alpha=1, out=None):
    return torch.addmm(input, mat1, mat2, beta=beta, alpha=alpha)


def negative_tf32(input, mat1, mat2, beta=1, alpha=1, out=None):
    """Drops the 13 low bits of the mantissa, as a TF32 tensor core reads its operands."""
    a, b = ((t.contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32) for t in (mat1, mat2))
    return torch.addmm(input, a, b, beta=beta, alpha=alpha, out=out)


def negative_row_bias_as_column(input, mat1, mat2, beta=1, alpha=1, out=None):
    """Adds element i of a vector to row i instead of column i."""
    if input.dim() == 1 and input.shape[0] <= mat1.shape[0]:
        input = torch.nn.functional.pad(input, (0, mat1.shape[0] - input.shape[0])).unsqueeze(-1)
    return torch.addmm(input, mat1, mat2, beta=beta, alpha=alpha, out=out)
