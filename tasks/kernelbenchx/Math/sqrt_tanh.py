"""Hyperbolic tangent of the square root, element by element.

`sqrt_tanh(input, out=None)` computes `tanh(√x)` for every element `x` of a floating-point tensor of any shape.

Numbers below 0 and NaN give NaN, zeros give zero, `inf` gives 1. Roots reach hundreds: no intermediate overflow may
turn into NaN. Errors are counted relative to 1: `2 / (1 + exp(-2 * √x)) - 1` is accurate enough. Half precision is
computed in float32 and rounded once.

`out`: if given, a contiguous tensor of `input`'s shape and dtype; it is filled and returned. Otherwise the result is
a new tensor of `input`'s shape and dtype with any strides. `input` may be non-contiguous, empty or without
dimensions.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("elementwise", "memory-bound", "fusion")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(4099,)),
    dict(shape=(500,), signed=True),
    dict(shape=(37, 65)),
    dict(shape=(1021,), factor=4.0),
    dict(shape=(7, 129)),
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

# Formulas by one exponential subtract numbers near 1 from each other.
CONTRACT = Close(scale=1.0)


def sqrt_tanh(input, out=None):
    return torch.tanh(torch.sqrt(input), out=out)


def inputs(make, shape, factor=1.0, special=False, signed=False, strided=False, out=False, dtype=None):
    """Numbers from 0 up unless `signed`; `special` adds what has no root, and what overflows an exponential."""
    x = make.floats(*shape, dtype=dtype, low=None if signed else 0.0) * factor
    if special:
        x[:7] = torch.tensor([float("nan"), float("inf"), float("-inf"), -0.0, -1.0, 1e4, 1e30])
    return call(make.strided(x) if strided else x, out=make.plain(*shape, dtype=dtype) if out else None)


def _given(result, out):
    return result if out is None else out.copy_(result)


def _root(input):
    return torch.sqrt(input.to(torch.promote_types(input.dtype, torch.float32)))


def positive_sigmoid(input, out=None):
    return _given((2 * torch.sigmoid(2 * _root(input)) - 1).to(input.dtype), out)


def positive_expm1(input, out=None):
    """(1 - e) / (1 + e) with e = exp(-2 √x), which cannot overflow."""
    d = torch.expm1(-2 * _root(input))
    return _given((-d / (2 + d)).to(input.dtype), out)


def negative_tanh_first(input, out=None):
    return _given(torch.sqrt(torch.tanh(input)), out)


def negative_no_sqrt(input, out=None):
    return torch.tanh(input, out=out)


def negative_overflow(input, out=None):
    """(e - 1) / (e + 1) with e = exp(2 √x) is inf / inf for large x."""
    e = torch.exp(2 * torch.sqrt(input))
    return _given((e - 1) / (e + 1), out)


def negative_root_clamped(input, out=None):
    """0 instead of NaN for negative numbers."""
    return _given(torch.tanh(torch.sqrt(input.clamp(min=0))), out)


def negative_ignores_out(input, out=None):
    return torch.tanh(torch.sqrt(input))
