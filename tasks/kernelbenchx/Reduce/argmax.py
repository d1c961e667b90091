"""Index of the largest element along a dimension.

`argmax(input_tensor, dim, keepdim=False)` returns int64 indices along `dim`, in `input_tensor`'s shape without that
dimension, or with size 1 there if `keepdim` is true. `dim` may be negative. `dim=None` (only with `keepdim=False`) takes
the whole tensor as one vector in row-major order and returns a 0-dimensional tensor.

- Of several largest elements the *first* counts: the smallest index.
- NaN is larger than every number; of several NaNs the first counts. `0.0` and `-0.0` are equal.

`input_tensor` is a floating-point or integer tensor, may be non-contiguous, and may be empty in other dimensions than
`dim`. The strides of the result are free.
"""

import torch

from kbx.suite import Exact, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("reduction", "integer-result", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(7, 257), dim=1),
    dict(shape=(3, 1031), dim=0),
    dict(shape=(5, 13, 67), dim=2),
    dict(shape=(5, 13, 7), dim=1, keepdim=True),
    dict(shape=(33, 17), dim=1, dtype=torch.int64),
    dict(shape=(1, 1), dim=0),
    dict(shape=(4099,), dim=0),
    dict(shape=(37, 19), dim=0, keepdim=True, strided=True),
    dict(shape=(3, 67), dim=None),
    dict(shape=(9, 130), dim=-1, levels=3),
    dict(shape=(6, 70), dim=1, nan=0.05),
    dict(shape=(4, 33), dim=1, levels=200, dtype=torch.int64),
    dict(shape=(5, 61), dim=1, infinite=True),
    dict(shape=(0, 5), dim=1),
]

SIZES = [
    dict(shape=(64, 64), dim=1),
    dict(shape=(1024, 1024), dim=1),
    dict(shape=(4096, 8192), dim=0),
    dict(shape=(65536, 8192), dim=1),
]

CONTRACT = Exact(strides="any")


def argmax(input_tensor, dim, keepdim=False):
    return torch.argmax(input_tensor, dim, keepdim)


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
        x = torch.full_like(x, float("-inf"))
    return call(make.strided(x) if strided else x, dim, keepdim=keepdim)


def positive_first_equal(input_tensor, dim, keepdim=False):
    """The maximum first, then the smallest index that holds it."""
    x = input_tensor.reshape(-1) if dim is None else input_tensor
    dim = 0 if dim is None else dim
    is_nan = x != x
    hit = (x == x.amax(dim, keepdim=True)) & ~is_nan if x.numel() else x.bool()
    hit = torch.where(is_nan.any(dim, keepdim=True), is_nan, hit)
    place = torch.arange(x.shape[dim], device=x.device).reshape(
        [-1 if d == dim % x.dim() else 1 for d in range(x.dim())]
    )
    return torch.where(hit, place, x.shape[dim]).amin(dim, keepdim=keepdim)


def negative_last_of_ties(input_tensor, dim, keepdim=False):
    x = input_tensor.reshape(-1) if dim is None else input_tensor
    axis = 0 if dim is None else dim
    return x.shape[axis] - 1 - torch.argmax(x.flip(axis), axis, keepdim)


def negative_skips_nan(input_tensor, dim, keepdim=False):
    x = torch.nan_to_num(input_tensor, nan=-3e38) if input_tensor.is_floating_point() else input_tensor
    return torch.argmax(x, dim, keepdim)


def negative_magnitude(input_tensor, dim, keepdim=False):
    return torch.argmax(input_tensor.abs(), dim, keepdim)


def negative_zero_padded_row(input_tensor, dim, keepdim=False):
    """An out-of-range lane reads 0 instead of -inf and wins where every element is negative."""
    x = input_tensor.reshape(-1) if dim is None else input_tensor
    axis = 0 if dim is None else dim
    zero = torch.zeros_like(x.narrow(axis, 0, 1)) if x.numel() else x
    return torch.argmax(torch.cat((x, zero), axis) if x.numel() else x, axis, keepdim)


def negative_int32_result(input_tensor, dim, keepdim=False):
    return torch.argmax(input_tensor, dim, keepdim).int()


def negative_ignores_keepdim(input_tensor, dim, keepdim=False):
    return torch.argmax(input_tensor, dim)


def negative_finite_padding(input_tensor, dim, keepdim=False):
    """Lanes beyond the end hold a large negative number, which is larger than -inf."""
    x = input_tensor if input_tensor.is_floating_point() else input_tensor.double()
    if dim is None:
        return torch.argmax(x)
    return torch.argmax(torch.cat((x, torch.full_like(x.sum(dim, keepdim=True), -3e38)), dim), dim, keepdim)


def negative_integers_as_float(input_tensor, dim, keepdim=False):
    """Integers above 2^24 are tied in float32."""
    return torch.argmax(input_tensor.float(), dim, keepdim)
