"""Rounding towards zero, element by element.

`trunc(input, out=None)` drops the fraction of every element: 2.7 becomes 2, -2.7 becomes -2, in `input`'s shape and
dtype.

- Floating-point numbers may be far larger than any integer dtype holds; those without fraction stay as they are, and
  so do infinities and NaN. The sign of a zero in the result is free.
- An integer `input` is copied: the result is a new tensor all the same.
- `out`: if given, a contiguous tensor of `input`'s shape and dtype; it is filled and returned. Otherwise the result
  is a new tensor with any strides.

`input` may be non-contiguous, empty or without dimensions.
"""

import torch

from kbx.suite import Exact, call

DIFFICULTY = 1
DTYPE = "float32"
TAGS = ("elementwise", "memory-bound")
MAGNITUDES = (120,)

CASES = [
    dict(shape=(4099,)),
    dict(shape=(37, 65)),
    dict(shape=(1021,), factor=1e3),
    dict(shape=(7, 129)),
    dict(shape=(255,), halves=True),
    dict(shape=()),
    dict(shape=(999,), special=True),
    dict(shape=(500,), factor=1e25),
    dict(shape=(17, 45), strided=True),
    dict(shape=(5, 33), out=True),
    dict(shape=(3, 0)),
    dict(shape=(2, 3, 65)),
    dict(shape=(6, 65), dtype=torch.float64),
    dict(shape=(7, 67), dtype=torch.float16),
    dict(shape=(129,), dtype=torch.int32),
    dict(shape=(13, 5), dtype=torch.int64),
]

SIZES = [dict(shape=(4096,)), dict(shape=(1024, 1024)), dict(shape=(4096, 4096)), dict(shape=(134217728,))]

CONTRACT = Exact()

NEAR_ONE = 0.99999994
"""The largest float32 below 1."""


def trunc(input: torch.Tensor, out: torch.Tensor = None) -> torch.Tensor:
    return torch.trunc(input, out=out)


def inputs(make, shape, factor=1.0, halves=False, special=False, strided=False, out=False, dtype=None):
    """`halves`: also neighbours of whole numbers, `special` with what is no number. A `factor` leads beyond 64-bit integers."""
    if dtype in (torch.int32, torch.int64):
        x = make.ints(*shape, low=-(10**4), high=10**4, dtype=dtype)
    else:
        x = 4 * make.floats(*shape, dtype=dtype) * factor
    if halves:
        x[:6] = torch.tensor([0.5, -0.5, 2.5, -1.5, NEAR_ONE, -NEAR_ONE])
    if halves:
        x[:6] = torch.tensor([0.5, -0.5, 2.5, -1.5, NEAR_ONE, -NEAR_ONE])
    if halves:
        x[:6] = torch.tensor([0.5, -0.5, 2.5, -1.5, NEAR_ONE, -NEAR_ONE])
    if special:
        x[:5] = torch.tensor([float("nan"), float("inf"), float("-inf"), 8388607.5, -3e9])
    return call(make.strided(x) if strided else x, out=torch.zeros_like(x) if out else None)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_floor_and_ceil(input, out=None):
    return _given(torch.where(input < 0, input.ceil(), input.floor()), out)


def positive_subtracted_fraction(input, out=None):
    """x minus its remainder by 1, which is exact."""
    if not input.dtype.is_floating_point:
        return _given(input.clone(), out)
    return _given(torch.where(input.isfinite(), input - input.fmod(1), input), out)


def negative_floor(input, out=None):
    return torch.floor(input, out=out)


def negative_round(input, out=None):
    return torch.round(input, out=out)


def negative_through_int32(input, out=None):
    """Numbers beyond 32 bits are cut off, NaN becomes 0."""
    whole = input.double().nan_to_num(0).clamp(-(2**31), 2**31 - 1).to(torch.int32)
    return _given(whole.to(input.dtype), out)


def negative_returns_integers_themselves(input, out=None):
    if out is None and not input.dtype.is_floating_point:
        return input
    return torch.trunc(input, out=out)


def negative_ignores_out(input, out=None):
    return torch.trunc(input)
