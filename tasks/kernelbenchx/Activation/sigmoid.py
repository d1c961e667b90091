"""Logistic sigmoid, element by element.

`sigmoid(input, out=None)` computes `1 / (1 + exp(-x))` for every element `x` of a floating-point tensor of any shape.

`sigmoid(inf) = 1`, `sigmoid(-inf) = 0`, and NaN stays NaN. Inputs reach hundreds: no intermediate overflow may turn
into NaN, and errors are counted relative to 1: `(1 + tanh(x / 2)) / 2` is accurate enough. Half precision is computed
in float32 and rounded once.

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

CASES = [
    dict(shape=(37,)),
    dict(shape=(1000,)),
    dict(shape=(4099,)),
    dict(shape=(33, 65)),
    dict(shape=(7, 131)),
    dict(shape=()),
    dict(shape=(999,), special=True),
    dict(shape=(17, 45), strided=True),
    dict(shape=(5, 33), out=True),
    dict(shape=(0, 7)),
    dict(shape=(2, 3, 65)),
    dict(shape=(5, 67), dtype=torch.float64),
    dict(shape=(7, 67), dtype=torch.bfloat16),
]

SIZES = [dict(shape=(4096,)), dict(shape=(1024, 1024)), dict(shape=(4096, 4096)), dict(shape=(134217728,))]

# Formulas add numbers to 1, however small the result is.
CONTRACT = Close(scale=1.0)


def sigmoid(input, out=None):
    return torch.sigmoid(input, out=out)


def inputs(make, shape, special=False, strided=False, out=False, dtype=None):
    """`special`: NaN, infinities, and numbers whose exponential overflows."""
    x = make.floats(*shape, dtype=dtype)
    if special:
        x[:7] = torch.tensor([float("nan"), float("inf"), float("-inf"), 100.0, -100.0, 1000.0, -1000.0])
    return call(make.strided(x) if strided else x, out=make.plain(*shape, dtype=dtype) if out else None)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_tanh(input, out=None):
    """(1 + tanh(x / 2)) / 2."""
    x = input.to(torch.promote_types(input.dtype, torch.float32))
    return _given((0.5 * (1 + torch.tanh(0.5 * x))).to(input.dtype), out)


def positive_base_two(input, out=None):
    x = input.to(torch.promote_types(input.dtype, torch.float32))
    return _given((1 / (1 + torch.exp2(-1.4426950408889634 * x))).to(input.dtype), out)


def negative_overflow(input, out=None):
    """exp(x) / (1 + exp(x)) is inf / inf for large x."""
    e = torch.exp(input)
    return _given(e / (1 + e), out)


def negative_hard(input, out=None):
    """The piecewise linear imitation."""
    return _given(torch.nn.functional.hardsigmoid(input), out)


def negative_wrong_sign(input, out=None):
    return torch.sigmoid(-input, out=out)


def negative_clamped(input, out=None):
    return torch.sigmoid(input.clamp(-5, 5), out=out)


def negative_ignores_out(input, out=None):
    return torch.sigmoid(input)
