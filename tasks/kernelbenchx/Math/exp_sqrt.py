"""Square root of the exponential, element by element.

`exp_sqrt(input, out=None)` computes `sqrt(exp(x))` for every element `x` of a floating-point tensor. Where `exp(x)`
overflows in the tensor's dtype (float32: `x` above about 88.72) the result is `inf`; a kernel that returns the finite value
`exp(x / 2)` there, accurate to the dtype's precision, is right as well.

`out`: if given, a contiguous tensor of `input`'s shape and dtype; it is filled and returned. Otherwise the result is a new
tensor of `input`'s shape and dtype with any strides. `input` may be non-contiguous or empty.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 1
DTYPE = "float32"
TAGS = ("elementwise", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(4099,)),
    dict(shape=(257,), out=True),
    dict(shape=(37, 65)),
    dict(shape=(1021,)),
    dict(shape=(7, 129)),
    dict(shape=(1,)),
    dict(shape=(17, 45), strided=True),
    dict(shape=(3, 0)),
    dict(shape=(2, 3, 65)),
    dict(shape=(6, 65), dtype=torch.float64),
]

SIZES = [dict(shape=(4096,)), dict(shape=(512, 1024)), dict(shape=(4096, 4096)), dict(shape=(134217728,))]


def magnitude(input, out=None):
    """A rounding of the exponent is a relative error of the result."""
    x = input.double()
    return torch.where(x.isfinite(), torch.exp(x / 2) * (1 + x.abs()), 0.0)


CONTRACT = Close(scale=magnitude, strides="any")


def exp_sqrt(input, out=None):
    return torch.sqrt(torch.exp(input), out=out)


def inputs(make, shape, strided=False, out=False, dtype=None):
    x = make.floats(*shape, dtype=dtype)
    return call(make.strided(x) if strided else x, out=make.plain(*shape, dtype=dtype) if out else None)


def positive_power_of_two(input, out=None):
    """exp by base two, square root as a power."""
    result = torch.exp2(input * 1.4426950408889634).pow(0.5)
    return result if out is None else out.copy_(result)


def positive_half_exponent(input, out=None):
    """exp(x / 2): the same on paper, finite where exp(x) overflows."""
    return torch.exp(input / 2, out=out)


def negative_no_sqrt(input, out=None):
    return torch.exp(input, out=out)


def negative_sqrt_first(input, out=None):
    return torch.exp(torch.sqrt(input), out=out)


def negative_clamped(input, out=None):
    return torch.sqrt(torch.exp(input.clamp(-2, 2)), out=out)
