"""Natural logarithm of one plus a number, element by element.

`log1p(input, out=None)` computes `ln(1 + x)` for every element `x` of a floating-point tensor of any shape, as
accurately as if `1 + x` were not rounded: for small `x` the result is `x` nearly, and `log(1 + x)` as it stands is
too inaccurate.

`log1p(-1)` is `-inf`, `log1p(inf)` is `inf`, and of numbers below -1 and NaN it is NaN. Half precision is computed in
float32 and rounded once.

`out`: if given, a contiguous tensor of `input`'s shape and dtype; it is filled and returned. Otherwise the result is
a new tensor of `input`'s shape and dtype with any strides. `input` may be non-contiguous, empty or without
dimensions.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("elementwise", "memory-bound")
MAGNITUDES = (-104, 120)
PROMISED = ("tiny_values",)

CASES = [
    dict(shape=(4099,)),
    dict(shape=(37, 65)),
    dict(shape=(1021,)),
    dict(shape=(7, 129)),
    dict(shape=(257,), high=10.0),
    dict(shape=(500,), small=True),
    dict(shape=()),
    dict(shape=(129,), low=-1.0, high=0.0),
    dict(shape=(999,), special=True),
    dict(shape=(17, 45), strided=True),
    dict(shape=(5, 33), out=True),
    dict(shape=(3, 0)),
    dict(shape=(2, 3, 65)),
    dict(shape=(6, 65), dtype=torch.float64),
    dict(shape=(7, 67), dtype=torch.float16),
]

SIZES = [dict(shape=(4096,)), dict(shape=(1024, 1024)), dict(shape=(4096, 4096)), dict(shape=(134217728,))]

CONTRACT = Close()


def log1p(input: torch.Tensor, out: torch.Tensor = None) -> torch.Tensor:
    return torch.log1p(input, out=out)


def inputs(make, shape, low=-0.9, high=None, special=False, small=False, strided=False, out=False, dtype=None):
    """Numbers from `low` up; `small` ones where 1 + x loses digits; `special` adds what has no logarithm, and infinity."""
    x = 1e-4 * make.plain(*shape, dtype=dtype) if small else make.floats(*shape, dtype=dtype, low=low, high=high)
    if special:
        x[:6] = torch.tensor([float("nan"), float("inf"), float("-inf"), -0.0, -1.5, 1e30])
    return call(make.strided(x) if strided else x, out=make.plain(*shape, dtype=dtype) if out else None)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_corrected(input, out=None):
    """log(u) with u = 1 + x rounded, times x / (u - 1), which undoes the rounding."""
    x = input.to(torch.promote_types(input.dtype, torch.float32))
    u = 1 + x
    result = torch.where((u == 1) | u.isinf(), x, torch.log(u) * (x / (u - 1)))
    return _given(torch.where(x == float("-inf"), float("nan"), result).to(input.dtype), out)


def positive_artanh(input, out=None):
    """2 artanh(x / (2 + x)) where x is small."""
    x = input.to(torch.promote_types(input.dtype, torch.float32))
    result = torch.where(x.abs() < 0.5, 2 * torch.atanh(x / (2 + x)), torch.log(1 + x))
    return _given(result.to(input.dtype), out)


def negative_plain(input, out=None):
    """Rounds 1 + x before the logarithm."""
    return _given(torch.log(1 + input), out)


def negative_log(input, out=None):
    return torch.log(input, out=out)


def negative_series(input, out=None):
    """Four terms of the series: good near 0 only."""
    x = input
    return _given(x - x**2 / 2 + x**3 / 3 - x**4 / 4, out)


def negative_clamped(input, out=None):
    """No infinity at -1."""
    return _given(torch.log1p(input.clamp(min=-1 + 1e-6)), out)


def negative_ignores_out(input, out=None):
    return torch.log1p(input)
