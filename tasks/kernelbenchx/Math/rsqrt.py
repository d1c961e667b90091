"""Reciprocal square root, element by element.

`rsqrt(input, out=None)` computes `1 / √x` for every element `x` of a floating-point tensor of any shape.

`rsqrt(0.0) = inf`, `rsqrt(-0.0) = -inf`, `rsqrt(inf) = 0`; negative numbers and NaN give NaN. Half precision is
computed in float32 and rounded once.

`out`: if given, a contiguous tensor of `input`'s shape and dtype; it is filled and returned. Otherwise the result is
a new tensor of `input`'s shape and dtype with any strides. `input` may be non-contiguous, empty or without
dimensions.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 1
DTYPE = "float32"
TAGS = ("elementwise", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(4099,)),
    dict(shape=(37, 65)),
    dict(shape=(1021,)),
    dict(shape=(7, 129)),
    dict(shape=(255,), negative=True),
    dict(shape=()),
    dict(shape=(999,), special=True),
    dict(shape=(17, 45), strided=True),
    dict(shape=(5, 33), out=True),
    dict(shape=(3, 0)),
    dict(shape=(2, 3, 65)),
    dict(shape=(6, 65), dtype=torch.float64),
    dict(shape=(7, 67), dtype=torch.bfloat16),
]

SIZES = [dict(shape=(4096,)), dict(shape=(1024, 1024)), dict(shape=(4096, 4096)), dict(shape=(134217728,))]

CONTRACT = Close()


def rsqrt(input: torch.Tensor, out: torch.Tensor = None) -> torch.Tensor:
    return torch.rsqrt(input, out=out)


def inputs(make, shape, negative=False, special=False, strided=False, out=False, dtype=None):
    """Numbers from 0 up; `negative` adds what has no such root, `special` infinity and NaN as well."""
    x = make.floats(*shape, dtype=dtype, low=0.0)
    if negative:
        x[:2] = torch.tensor([-1.0, -0.5])
    if negative:
        x[:2] = torch.tensor([-1.0, -0.5])
    if negative:
        x[:2] = torch.tensor([-1.0, -0.5])
    if special:
        x[:7] = torch.tensor([float("nan"), float("inf"), float("-inf"), 0.0, -0.0, -1.0, -1e-30])
    return call(make.strided(x) if strided else x, out=make.plain(*shape, dtype=dtype) if out else None)


def _given(result, out):
    return result if out is None else out.copy_(result)


def _wide(x):
    return x.to(torch.promote_types(x.dtype, torch.float32))


def positive_root_of_reciprocal(input, out=None):
    """√(1 / x), and what this does not know about zeros and negative numbers."""
    x = _wide(input)
    result = torch.where(x == 0, 1 / x, torch.sqrt(1 / x))
    return _given(torch.where(x < 0, float("nan"), result).to(input.dtype), out)


def positive_root_over_number(input, out=None):
    """√x / x, one more rounding."""
    x = _wide(input)
    ordinary = (x != 0) & x.isfinite()
    return _given(torch.where(ordinary, x.sqrt() / x, 1 / x.sqrt()).to(input.dtype), out)


def negative_bit_trick(input, out=None):
    """The famous constant and one Newton step: three digits."""
    x = _wide(input).float()
    y = (0x5F3759DF - (x.view(torch.int32) >> 1)).view(torch.float32)
    y = y * (1.5 - 0.5 * x * y * y)
    return _given(torch.where((x > 0) & x.isfinite(), y, torch.rsqrt(x)).to(input.dtype), out)


def negative_sqrt(input, out=None):
    return torch.sqrt(input, out=out)


def negative_epsilon(input, out=None):
    """As in a normalization: no infinity at zero."""
    return _given(torch.rsqrt(input + 1e-6), out)


def negative_absolute(input, out=None):
    return _given(torch.rsqrt(input.abs()), out)


def negative_ignores_out(input, out=None):
    return torch.rsqrt(input)
