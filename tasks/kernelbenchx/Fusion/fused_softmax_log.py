"""Logarithm first, then softmax along one dimension: `softmax(log(input))`.

`fused_softmax_log(input, dim=-1, dtype=None)`

1. `l = log(x)`, the natural logarithm of every element of a float32 tensor.
2. If `dtype` is given, the rest is computed and returned in that dtype. The conversion may come before the logarithm or
   after it: an error of the logarithm as large as float32's is tolerated.
3. `out = exp(l - m) / Σ exp(l - m)`, with `m` the largest `l`; maximum and sum run along `dim`, which may be negative.

This is neither `log(softmax(x))` nor `log_softmax(x)`, despite the name; on paper it is `x / Σ x`, and a kernel that
divides by the sum is right. The elements are finite and not negative. A zero has the logarithm -inf and the result 0,
as long as its row has a positive element; a row of zeros gives NaN. Results below the smallest normal number may be
flushed to 0.

`input` may be non-contiguous, or empty in any dimension; the result is a new, contiguous tensor of `input`'s shape.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("reduction", "memory-bound", "fusion")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(3, 257)),
    dict(shape=(37, 19), dim=0),
    dict(shape=(29, 67), dim=1),
    dict(shape=(7, 33), dtype=torch.float64),
    dict(shape=(5, 1031), dim=1),
    dict(shape=(1, 1)),
    dict(shape=(37, 19), dim=0, strided=True),
    dict(shape=(5, 13, 7), dim=-2),
    dict(shape=(4, 65), dim=1, zero_row=True),
    dict(shape=(13, 34), low=0.03),
    dict(shape=(6, 45), dim=1, scale=1e-30),
    dict(shape=(0, 5), dim=1),
]

SIZES = [
    dict(shape=(1024, 16)),
    dict(shape=(1024, 4096)),
    dict(shape=(8192, 4096), dim=0),
    dict(shape=(1024, 131072)),
]


def magnitude(input, dim=-1, dtype=None):
    """A rounding of a logarithm is a relative error of the result."""
    size = torch.log(input).abs()
    return (input / input.sum(dim, keepdim=True) * (1 + size)).nan_to_num(0.0, 0.0, 0.0)


CONTRACT = Close(scale=magnitude, strides="contiguous")


def fused_softmax_log(input, dim=-1, dtype=None):
    return F.softmax(torch.log(input), dim=dim, dtype=dtype).contiguous()


def inputs(make, shape, dim=-1, dtype=None, low=0.1, scale=1.0, zero_row=False, strided=False):
    x = make.floats(*shape, low=low) * scale
    if zero_row:
        x.select(0, 1).zero_()
    return call(make.strided(x) if strided else x, dim=dim, dtype=dtype)


def positive_divided_by_sum(input, dim=-1, dtype=None):
    """x / Σ x, with no exponential."""
    x = input.contiguous().to(dtype or input.dtype)
    return x / x.flip(dim).sum(dim, keepdim=True)


def positive_base_two(input, dim=-1, dtype=None):
    """Logarithms and exponentials by base two."""
    y = torch.log2(input.contiguous()).to(dtype or input.dtype)
    e = torch.exp2(y - y.amax(dim, keepdim=True)) if y.numel() else y
    return e / e.sum(dim, keepdim=True)


def negative_log_softmax(input, dim=-1, dtype=None):
    return F.log_softmax(input, dim=dim, dtype=dtype).contiguous()


def negative_plain_softmax(input, dim=-1, dtype=None):
    return F.softmax(input, dim=dim, dtype=dtype).contiguous()


def negative_offset_in_logarithm(input, dim=-1, dtype=None):
    """log(x + 1e-6), to keep zeros finite."""
    return F.softmax(torch.log(input + 1e-6), dim=dim, dtype=dtype).contiguous()


def negative_offset_in_sum(input, dim=-1, dtype=None):
    """Keeps a row of zeros from NaN."""
    x = input.contiguous().to(dtype or input.dtype)
    return x / (x.sum(dim, keepdim=True) + 1e-8)


def negative_always_last_dimension(input, dim=-1, dtype=None):
    return F.softmax(torch.log(input), dim=-1, dtype=dtype).contiguous()


def negative_padded_with_one(input, dim=-1, dtype=None):
    """Lanes beyond the end take part with logarithm 0."""
    x = input.contiguous().to(dtype or input.dtype)
    size = x.shape[dim]
    return x / (x.sum(dim, keepdim=True) + (1 << max(0, size - 1).bit_length()) - size)


def negative_ignores_dtype(input, dim=-1, dtype=None):
    return F.softmax(torch.log(input), dim=dim).contiguous()
