"""Smallest element along a dimension, and where it is.

`min(input_tensor, dim, keepdim=False)` returns a tuple `(values, indices)`: the smallest elements along the int `dim`,
of `input_tensor`'s dtype, and their int64 positions along `dim`. Both have `input_tensor`'s shape without that
dimension, or with size 1 there if `keepdim` is true. `dim` may be negative.

- Of several smallest elements the *first* counts: the smallest index.
- NaN is smaller than every number: a row with NaN gives NaN, and the index of its first NaN. `0.0` and `-0.0` are
  equal.

`input_tensor` is a floating-point or integer tensor, may be non-contiguous, and may be empty in other dimensions than
`dim`. A named tuple serves as well. The results are new tensors of any strides.
"""

import torch

from kbx.suite import Exact, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("reduction", "integer-result", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(7, 257), dim=1),
    dict(shape=(3, 1031), dim=0),
    dict(shape=(5, 13, 67), dim=2, keepdim=True),
    dict(shape=(4099,), dim=0),
    dict(shape=(33, 17), dim=1, dtype=torch.int64),
    dict(shape=(1,), dim=0),
    dict(shape=(37, 19), dim=0, keepdim=True, strided=True),
    dict(shape=(9, 130), dim=-1, levels=3, keepdim=True),
    dict(shape=(2, 3, 5, 7), dim=2),
    dict(shape=(6, 70), dim=1, nan=0.05),
    dict(shape=(4, 33), dim=1, levels=200, dtype=torch.int64),
    dict(shape=(3, 45), dim=1, dtype=torch.int32),
    dict(shape=(5, 61), dim=1, infinite=True),
    dict(shape=(0, 5), dim=1),
]

SIZES = [
    dict(shape=(64, 1024), dim=1),
    dict(shape=(8192, 1024), dim=1),
    dict(shape=(8192, 8192), dim=0),
    dict(shape=(262144, 1024), dim=1),
]

CONTRACT = Exact(strides="any")


def min(input_tensor, dim, keepdim=False):
    return torch.min(input_tensor, dim, keepdim)


def inputs(make, shape, dim, keepdim=False, levels=None, nan=None, infinite=False, dtype=None, strided=False):
    """``levels``: that many different values only, so that most rows have ties; integers lie where float32 merges them. Other integers
    are small, and all of a row differ.

    ``infinite``: no number beats the padding.
    """
    if levels:
        x = make.ints(*shape, low=-levels // 2, high=levels - levels // 2, dtype=dtype or torch.float32)
        x = x + torch.iinfo(dtype).max // 4 if dtype else x
    else:
        x = make.plain(*shape).argsort(dim).to(dtype) if dtype else make.floats(*shape)
    if nan:
        x = x.masked_fill(make.bools(*shape, p=nan), float("nan"))
    if infinite:
        x = torch.full_like(x, float("inf"))
    return call(make.strided(x) if strided else x, dim, keepdim=keepdim)


def positive_first_equal(input_tensor, dim, keepdim=False):
    """The minimum first, then the smallest index that holds it."""
    x, dim = input_tensor, dim % input_tensor.dim()
    is_nan = x != x
    values = x.amin(dim, keepdim=True)
    hit = torch.where(is_nan.any(dim, keepdim=True), is_nan, x == values)
    place = torch.arange(x.shape[dim], device=x.device).reshape([-1 if d == dim else 1 for d in range(x.dim())])
    indices = torch.where(hit, place, x.shape[dim]).amin(dim, keepdim=True)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def negative_last_of_ties(input_tensor, dim, keepdim=False):
    values, indices = torch.min(input_tensor.flip(dim), dim, keepdim)
    return values, input_tensor.shape[dim] - 1 - indices


def negative_skips_nan(input_tensor, dim, keepdim=False):
    if not input_tensor.is_floating_point():
        return torch.min(input_tensor, dim, keepdim)
    return torch.min(torch.where(input_tensor.isnan(), 3e38, input_tensor), dim, keepdim)


def negative_magnitude(input_tensor, dim, keepdim=False):
    indices = input_tensor.abs().argmin(dim, True)
    values = input_tensor.gather(dim, indices)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def negative_zero_padded_row(input_tensor, dim, keepdim=False):
    """An out-of-range lane reads 0 instead of infinity and wins where every element is positive."""
    zero = torch.zeros_like(input_tensor.narrow(dim, 0, 1))
    return torch.min(torch.cat((input_tensor, zero), dim), dim, keepdim)


def negative_finite_padding(input_tensor, dim, keepdim=False):
    """Starts with a large number: what is larger still is never found."""
    values, indices = torch.min(input_tensor, dim, keepdim)
    return values.clamp(max=1e30) if values.is_floating_point() else values, indices


def negative_values_only(input_tensor, dim, keepdim=False):
    return torch.min(input_tensor, dim, keepdim).values


def negative_int32_indices(input_tensor, dim, keepdim=False):
    values, indices = torch.min(input_tensor, dim, keepdim)
    return values, indices.int()


def negative_ignores_keepdim(input_tensor, dim, keepdim=False):
    return torch.min(input_tensor, dim)


def negative_integers_as_float(input_tensor, dim, keepdim=False):
    """Integers above 2^24 are tied in float32."""
    indices = torch.min(input_tensor.float(), dim, True).indices
    values = input_tensor.gather(dim, indices)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))
