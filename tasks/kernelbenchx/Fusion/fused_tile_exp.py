"""A tensor repeated like tiles along its dimensions, then the exponential.

`fused_tile_exp(input, dims, *, out=None)` computes `exp(tile(input, dims))` of a float32 tensor.

- `dims`: a tuple of ints ≥ 0, how often the whole tensor is laid next to itself along each dimension: `[a, b]` twice is
  `[a, b, a, b]`. If it is shorter than `input`'s shape, ones are put before it; if it is longer, `input` gets leading
  dimensions of size 1. A 0 gives an empty dimension.
- `out`: if given, a contiguous float32 tensor of the result's shape; it is filled and returned.

Where the exponential overflows float32 (above about 88.72) the result is `inf`; `exp(-inf)` is 0 and NaN stays NaN.
`input` may be non-contiguous, expanded or empty; without `out` the result is a new tensor with any strides.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("elementwise", "memory-bound", "fusion")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(127,), dims=(3,), out=True),
    dict(shape=(17, 23), dims=(2, 3), out=True),
    dict(shape=(37, 41), dims=(2, 3)),
    dict(shape=(5, 7), dims=(2,)),
    dict(shape=(1031,), dims=(2,)),
    dict(shape=(1,), dims=(2,)),
    dict(shape=(17, 23), dims=(2, 3), strided=True),
    dict(shape=(3, 4, 5), dims=(2, 3)),
    dict(shape=(9, 13), dims=(2, 1, 4), out=True),
    dict(shape=(11, 6), dims=(2,), extreme=True),
    dict(shape=(6, 5), dims=(0, 2)),
    dict(shape=(), dims=(2,)),
    dict(shape=(0, 4), dims=(3, 2)),
]

SIZES = [
    dict(shape=(2048,), dims=(2,)),
    dict(shape=(512, 512), dims=(2, 2)),
    dict(shape=(4096, 1024), dims=(2, 3)),
    dict(shape=(67108864,), dims=(2,)),
]


def magnitude(input, dims, *, out=None):
    """A rounding of the exponent is a relative error of its exponential."""
    x = input.double().nan_to_num(0.0, 0.0, 0.0)
    return torch.tile(torch.exp(x) * (1 + x.abs()), dims)


CONTRACT = Close(scale=magnitude)


def fused_tile_exp(input, dims, *, out=None):
    result = torch.exp(torch.tile(input, dims))
    return result if out is None else out.copy_(result)


def inputs(make, shape, dims, extreme=False, strided=False, out=False):
    x = make.floats(*shape)
    if extreme:
        x.view(-1)[7:10] = torch.tensor([89.0, -120.0, 88.5], device=x.device)
    x = make.strided(x) if strided else x
    return call(x, dims, out=torch.full_like(torch.tile(x, dims), 7.0) if out else None)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_exp_first(input, dims, *, out=None):
    """Exponentials by base two, once for each element; then tiled by concatenation."""
    result = torch.exp2(input * 1.4426950408889634)
    result = result.reshape([1] * (len(dims) - input.dim()) + list(input.shape))
    for d, times in enumerate((1,) * (result.dim() - len(dims)) + tuple(dims)):
        result = torch.cat([result] * times, d) if times else result.narrow(d, 0, 0).clone()
    return _given(result, out)


def negative_interleaved(input, dims, *, out=None):
    """[a, a, b, b] instead of [a, b, a, b]."""
    result = input.reshape([1] * (len(dims) - input.dim()) + list(input.shape))
    for d, times in enumerate((1,) * (result.dim() - len(dims)) + tuple(dims)):
        result = torch.repeat_interleave(result, times, d)
    return _given(torch.exp(result), out)


def negative_ones_put_behind(input, dims, *, out=None):
    """The first numbers of a short `dims` go to the first dimensions."""
    full = tuple(dims) + (1,) * (input.dim() - len(dims))
    return _given(torch.exp(torch.tile(input, full)), out)


def negative_dims_reversed(input, dims, *, out=None):
    return _given(torch.exp(torch.tile(input, dims[::-1])).reshape(torch.tile(input, dims).shape), out)


def negative_no_exp(input, dims, *, out=None):
    return _given(torch.tile(input, dims), out)


def negative_clamped(input, dims, *, out=None):
    return _given(torch.exp(torch.tile(input, dims).clamp(max=80)), out)


def negative_ignores_out(input, dims, *, out=None):
    return torch.exp(torch.tile(input, dims))
