"""Linear layer followed by softplus.

`fused_softplus_linear(input, weight, bias=None, beta=1, threshold=20)`

1. `z = input @ weightᵀ + bias`, with `input`: `(…, in_features)`, `weight`: `(out_features, in_features)`, `bias`:
   `(out_features,)` or `None`, all float32.
2. The result is `z` where `z > threshold`, and `log(1 + exp(beta · z)) / beta` elsewhere, `z == threshold` included.

`beta` is a positive Python number, `threshold` any. Where `beta` is not 1, `threshold` and `beta · threshold` are both
at least 20: then the two forms agree beyond the smaller of `threshold` and `threshold / beta`, and comparing `beta · z`
with the threshold is right too. `beta · threshold` is at most 80. The result is a new, contiguous `(…, out_features)` float32 tensor.
`input` may have one dimension or more; it and `weight` may be non-contiguous, leading dimensions may be empty, and
`in_features` may be 0 (`z` is then the bias, or 0). Products and sums are float32: TF32 and half precision are not
allowed.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("matmul", "fusion")
MAGNITUDES = (-104, 56)

CASES = [
    dict(shape=(37, 45), features=53, beta=2),
    dict(shape=(23, 9), features=19, threshold=15),
    dict(shape=(5, 33), features=21, bias=False),
    dict(shape=(131, 7), features=3, beta=1, threshold=20),
    dict(shape=(29, 67), features=37, beta=2, spread=1.0),
    dict(shape=(1, 1), features=1),
    dict(shape=(13, 31), features=18, strided=True),
    dict(shape=(3, 11, 33), features=21),
    dict(shape=(13, 257), features=18, beta=0.25, threshold=80),
    dict(shape=(23, 9), features=19, threshold=3, integers=True),
    dict(shape=(5, 0), features=7),
    dict(shape=(0, 12), features=6),
]

SIZES = [
    dict(shape=(1, 16), features=16),
    dict(shape=(1, 1024), features=1024),
    dict(shape=(1, 8192), features=8192),
    dict(shape=(8192, 4096), features=4096, beta=2),
]


def magnitude(input, weight, bias=None, beta=1, threshold=20):
    """Rounding errors of z grow with the norm of its terms, and reach the result as far as it rises with z. That of the one in
    1 + exp reaches all of them."""
    terms = F.linear(input.square(), weight.square(), None if bias is None else bias.square()).sqrt()
    return terms * torch.sigmoid(beta * F.linear(input, weight, bias)) + 1 / beta


# A sum of thousands of products in order errs more than PyTorch's, which may add up a tree: four times the usual room.
CONTRACT = Close(scale=magnitude, strides="contiguous", growth=4)


def fused_softplus_linear(input, weight, bias=None, beta=1, threshold=20):
    z = F.linear(input, weight, bias)
    return torch.where(z > threshold, z, F.softplus(z, beta=beta, threshold=beta * threshold))


def inputs(make, shape, features, bias=True, beta=1, threshold=20, spread=None, integers=False, strided=False):
    """``integers``: sums without rounding errors, so that a threshold with a visible step is met exactly.

    Otherwise weights have deviation ``spread``: 1/sqrt(in_features) unless told, as in a network.
    """
    if integers:
        x, w, b = (make.ints(*s, low=-2, high=3).to(make.dtype) for s in (shape, (features, shape[-1]), (features,)))
    else:
        x, w = make.floats(*shape), make.plain(features, shape[-1]) * (spread or max(1, shape[-1]) ** -0.5)
        b = make.plain(features)
    if strided:
        x, w = make.strided(x), make.strided(w)
    return call(x, w, b if bias else None, beta=beta, threshold=threshold)


def _linear_in_parts(input, weight, bias):
    parts = zip(input.tensor_split(4, -1), weight.tensor_split(4, -1), strict=True)
    z = sum(a @ b.mT for a, b in parts)
    return z if bias is None else z + bias


def positive_stable(input, weight, bias=None, beta=1, threshold=20):
    """Four partial products; log(1 + exp(v)) = max(v, 0) + log1p(exp(-|v|))."""
    z = _linear_in_parts(input, weight, bias)
    v = beta * z
    return torch.where(z > threshold, z, (v.clamp(min=0) + torch.log1p(torch.exp(-v.abs()))) / beta)


def positive_as_written(input, weight, bias=None, beta=1, threshold=20):
    """log(1 + exp(v)) literally: what 1 + exp(v) loses is small against 1."""
    z = _linear_in_parts(input, weight, bias)
    return torch.where(z > threshold, z, torch.log(1 + torch.exp(beta * z)) / beta)


def positive_threshold_of_product(input, weight, bias=None, beta=1, threshold=20):
    """Linear where beta · z exceeds the threshold, as PyTorch's softplus."""
    return F.softplus(_linear_in_parts(input, weight, bias), beta=beta, threshold=threshold)


def negative_ignores_beta(input, weight, bias=None, beta=1, threshold=20):
    return F.softplus(F.linear(input, weight, bias), threshold=threshold)


def negative_not_divided_by_beta(input, weight, bias=None, beta=1, threshold=20):
    z = F.linear(input, weight, bias)
    return torch.where(z > threshold, z, beta * F.softplus(z, beta=beta))


def negative_ignores_threshold(input, weight, bias=None, beta=1, threshold=20):
    return F.softplus(F.linear(input, weight, bias), beta=beta)


def negative_linear_at_threshold(input, weight, bias=None, beta=1, threshold=20):
    z = F.linear(input, weight, bias)
    return torch.where(z >= threshold, z, F.softplus(z, beta=beta))


def negative_overflows(input, weight, bias=None, beta=1, threshold=20):
    z = F.linear(input, weight, bias)
    return torch.log1p(torch.exp(beta * z)) / beta


def negative_tf32(input, weight, bias=None, beta=1, threshold=20):
    """Drops the 13 low bits of the mantissa, as a TF32 tensor core reads its operands."""
    x, w = ((t.contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32) for t in (input, weight))
    return F.softplus(F.linear(x, w, bias), beta=beta, threshold=threshold)
