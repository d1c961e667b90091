"""Matrix times vector, then the logistic function, then a scaled term is taken off.

`fused_mv_sigmoid_sub(input, vec, other, alpha=1, *, out=None)` computes `σ(input @ vec) - alpha · other` with
`σ(z) = 1 / (1 + exp(-z))`.

- `input`: float32 `(n, m)`, `vec`: float32 `(m,)`. `other`: a Python number, or a float32 tensor that broadcasts to
  `(n,)`, the shape of the result. `alpha`: a Python number.
- `out`: if given, a contiguous float32 `(n,)` tensor; it is filled and returned.

`n` or `m` may be 0 (`m = 0`: the product is zero, σ is 0.5). Products reach several thousand, where σ is 0 or 1 and
must not become NaN. Arguments may be non-contiguous or expanded; without `out` the result is a new, contiguous tensor.
Products and sums are float32: TF32 and half precision are not allowed.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("matmul", "reduction", "memory-bound", "fusion")
MAGNITUDES = (-104, 56)

CASES = [
    dict(n=37, m=45, other=(37,), alpha=0.5, spread=0.4, out=True),
    dict(n=131, m=33, other=(131,), alpha=2, spread=0.4),
    dict(n=19, m=1031, other=0.5, spread=0.4),
    dict(n=257, m=18, other=(257,), spread=0.4),
    dict(n=131, m=1531, other=0.5, spread=1.0, out=True),
    dict(n=1, m=1, other=(1,)),
    dict(n=130, m=33, other=(130,), spread=0.4, strided=True),
    dict(n=70, m=18, other=(70,), alpha=-3, spread=0.4),
    dict(n=67, m=31, other=(), spread=0.4),
    dict(n=19, m=1031, other=0.5, spread=9.0),
    dict(n=7, m=0, other=(7,)),
    dict(n=0, m=9, other=0.5),
]

SIZES = [
    dict(n=64, m=64, other=0.5),
    dict(n=2048, m=2048, other=0.5),
    dict(n=8192, m=8192, other=(8192,), alpha=2),
    dict(n=16384, m=16384, other=0.5),
]


def magnitude(input, vec, other, alpha=1, *, out=None):
    """Rounding errors of the product grow with the norm of its terms; they fade out where σ is flat."""
    slope = torch.sigmoid(input @ vec) * torch.sigmoid(-(input @ vec))
    return 1 + abs(alpha * other) + torch.sqrt(input.square() @ vec.square()) * slope


# A sum of thousands of products in order errs more than PyTorch's, which may add up a tree: four times the usual room.
CONTRACT = Close(scale=magnitude, strides="contiguous", growth=4)


def fused_mv_sigmoid_sub(input, vec, other, alpha=1, *, out=None):
    return torch.sub(torch.sigmoid(torch.mv(input, vec)), other, alpha=alpha, out=out)


def inputs(make, n, m, other, alpha=1, spread=None, strided=False, out=False):
    """The vector has deviation ``spread``: 1/sqrt(m) unless told, so that σ is saturated in part only."""
    a, v = make.floats(n, m), make.plain(m) * (spread or max(1, m) ** -0.5)
    y = make.plain(*other) if isinstance(other, tuple) else other
    if strided:
        a, v, y = make.strided(a), make.strided(v), make.strided(y)
    return call(a, v, y, alpha=alpha, out=make.plain(n) if out else None)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_partial_sums(input, vec, other, alpha=1, *, out=None):
    """Products added up in four parts; the logistic function by tanh."""
    z = sum((a * v).sum(1) for a, v in zip(input.tensor_split(4, 1), vec.tensor_split(4, 0), strict=True))
    return _given(0.5 * (1 + torch.tanh(z / 2)) - alpha * other, out)


def negative_overflows(input, vec, other, alpha=1, *, out=None):
    e = torch.exp(input @ vec)
    return _given(e / (1 + e) - alpha * other, out)


def negative_ignores_alpha(input, vec, other, alpha=1, *, out=None):
    return _given(torch.sigmoid(input @ vec) - other, out)


def negative_subtracts_first(input, vec, other, alpha=1, *, out=None):
    return _given(torch.sigmoid(input @ vec - alpha * other), out)


def negative_missing_tail(input, vec, other, alpha=1, *, out=None):
    """Leaves out the last columns when m is no multiple of 16."""
    whole = vec.numel() // 16 * 16
    return _given(torch.sigmoid(input[:, :whole] @ vec[:whole]) - alpha * other, out)


def negative_tf32(input, vec, other, alpha=1, *, out=None):
    """Drops the 13 low bits of the mantissa, as a TF32 tensor core reads its operands."""
    a, v = ((t.contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32) for t in (input, vec))
    return _given(torch.sigmoid(a @ v) - alpha * other, out)


def negative_ignores_out(input, vec, other, alpha=1, *, out=None):
    return torch.sigmoid(input @ vec) - alpha * other
