"""Exponential of the square root, element by element.

`sqrt_exp(input, out=None)` computes `exp(√x)` for every element `x` of a floating-point tensor of any shape.

Numbers below 0 and NaN give NaN, `-0.0` gives 1, `inf` gives `inf`. Where the result exceeds the dtype's range
(float32: `x` above about 7872) it is `inf`. An error of `√x` in its last place is tolerated.

`out`: if given, a contiguous tensor of `input`'s shape and dtype; it is filled and returned. Otherwise the result is
a new tensor of `input`'s shape and dtype with any strides. `input` may be non-contiguous, empty or without
dimensions.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("elementwise", "memory-bound", "fusion")
MAGNITUDES = (-104,)

CASES = [
    dict(shape=(4099,)),
    dict(shape=(5, 33), out=True),
    dict(shape=(257,), out=True),
    dict(shape=(37, 65)),
    dict(shape=(0,)),
    dict(shape=()),
    dict(shape=(999,), special=True),
    dict(shape=(17, 45), strided=True),
    dict(shape=(2, 3, 65)),
    dict(shape=(6, 65), dtype=torch.float64),
]

SIZES = [dict(shape=(4096,)), dict(shape=(1024, 1024)), dict(shape=(4096, 4096)), dict(shape=(134217728,))]


def magnitude(input, out=None):
    """A rounding of the exponent is a relative error of the result."""
    root = input.double().sqrt()
    return (torch.exp(root) * (1 + root)).nan_to_num(0, 0, 0)


CONTRACT = Close(scale=magnitude)


def sqrt_exp(input, out=None):
    return torch.exp(torch.sqrt(input), out=out)


def inputs(make, shape, special=False, strided=False, out=False, dtype=None):
    """Numbers from 0 up; `special` adds what has no root, and what overflows."""
    x = make.floats(*shape, dtype=dtype, low=0.0)
    if special:
        x[:7] = torch.tensor([float("nan"), float("inf"), float("-inf"), -0.0, -1.0, -1e-30, 1e4])
    return call(make.strided(x) if strided else x, out=make.plain(*shape, dtype=dtype) if out else None)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_power_of_two(input, out=None):
    """The root as a power, exp by base two."""
    root = torch.where(input < 0, float("nan"), input.pow(0.5))
    return _given(torch.exp2(root * 1.4426950408889634), out)


def negative_exp_first(input, out=None):
    return _given(torch.sqrt(torch.exp(input)), out)


def negative_no_sqrt(input, out=None):
    return torch.exp(input, out=out)


def negative_absolute(input, out=None):
    """The root of |x|: a number where NaN is right."""
    return _given(torch.exp(torch.sqrt(input.abs())), out)


def negative_clamped(input, out=None):
    return _given(torch.exp(torch.sqrt(input).clamp(max=5)), out)


def negative_ignores_out(input, out=None):
    return torch.exp(torch.sqrt(input))
