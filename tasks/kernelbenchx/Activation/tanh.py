"""Hyperbolic tangent, element by element.

`tanh(input_tensor, out_tensor=None)` computes `(exp(x) - exp(-x)) / (exp(x) + exp(-x))` for every element `x` of a
floating-point tensor of any shape.

`tanh(inf) = 1`, `tanh(-inf) = -1`, and NaN stays NaN. Inputs reach hundreds: no intermediate overflow may turn into
NaN. Errors are counted relative to 1, the size of large results: `2 / (1 + exp(-2 * x)) - 1` is accurate enough. Half
precision is computed in float32 and rounded once.

The result is a new tensor of `input_tensor`'s shape and dtype with any strides. `input_tensor` is passed by position
and may be non-contiguous, empty or without dimensions. `out_tensor` is not given: the published prompt calls it `out`.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 1
DTYPE = "float32"
TAGS = ("elementwise", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(37,)),
    dict(shape=(1000,)),
    dict(shape=(4099,)),
    dict(shape=(33, 65)),
    dict(shape=(7, 131)),
    dict(shape=(0,)),
    dict(shape=()),
    dict(shape=(999,), special=True),
    dict(shape=(17, 45), strided=True),
    dict(shape=(2, 3, 65)),
    dict(shape=(5, 67), dtype=torch.float64),
    dict(shape=(7, 67), dtype=torch.float16),
]

SIZES = [dict(shape=(4096,)), dict(shape=(1024, 1024)), dict(shape=(4096, 4096)), dict(shape=(134217728,))]

# Formulas by one exponential subtract numbers near 1 from each other.
CONTRACT = Close(scale=1.0)


def tanh(input_tensor, out_tensor=None):
    return torch.tanh(input_tensor, out=out_tensor)


def inputs(make, shape, special=False, strided=False, dtype=None):
    """`special`: NaN, infinities, and numbers whose exponential overflows."""
    x = make.floats(*shape, dtype=dtype)
    if special:
        x[:7] = torch.tensor([float("nan"), float("inf"), float("-inf"), 100.0, -100.0, 1000.0, -1000.0])
    return call(make.strided(x) if strided else x)


def _wide(x):
    return x.to(torch.promote_types(x.dtype, torch.float32))


def positive_sigmoid(input_tensor, out_tensor=None):
    return (2 * torch.sigmoid(2 * _wide(input_tensor)) - 1).to(input_tensor.dtype)


def positive_falling_exponential(input_tensor, out_tensor=None):
    """(1 - e) / (1 + e) with e = exp(-2 |x|), which cannot overflow."""
    x = _wide(input_tensor)
    e = torch.exp(-2 * x.abs())
    return torch.copysign((1 - e) / (1 + e), x).to(input_tensor.dtype)


def negative_overflow(input_tensor, out_tensor=None):
    """The definition as it stands: inf / inf for large x."""
    a, b = torch.exp(input_tensor), torch.exp(-input_tensor)
    return (a - b) / (a + b)


def negative_pade(input_tensor, out_tensor=None):
    """x (27 + x²) / (27 + 9 x²), clamped: good near 0 only."""
    square = input_tensor * input_tensor
    return (input_tensor * (27 + square) / (27 + 9 * square)).clamp(-1, 1)


def negative_sigmoid_of_x(input_tensor, out_tensor=None):
    """Forgets to double the argument."""
    return 2 * torch.sigmoid(input_tensor) - 1
