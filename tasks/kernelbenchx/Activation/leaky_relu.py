"""Leaky rectified linear unit, element by element.

`leaky_relu(input, negative_slope=0.01, inplace=False)` returns `x` where `x >= 0` and `negative_slope * x` elsewhere,
that is `max(0, x) + negative_slope * min(0, x)`, in the shape and dtype of `input`. `negative_slope` is any finite
Python number: 0, negative, or greater than 1.

- `inplace=False`: the result is a new tensor and `input` is left as it was.
- `inplace=True`: the result is written into `input`, through its own strides, and `input` itself is returned.

`input` is a floating-point tensor of any shape, also without elements or without dimensions, and may be
non-contiguous. It holds finite numbers. Half precision is computed in float32 and rounded once. The sign of a zero in
the result is free, and so are the strides of a new one.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("elementwise", "memory-bound", "in-place")
MAGNITUDES = (-104, 120)
MUTATES = ("input",)

CASES = [
    dict(shape=(37,)),
    dict(shape=(4099,), inplace=False),
    dict(shape=(999,), negative_slope=0.1),
    dict(shape=(17, 45), negative_slope=0.05),
    dict(shape=(7, 131), inplace=True),
    dict(shape=()),
    dict(shape=(257,), negative_slope=0),
    dict(shape=(17, 45), negative_slope=1.5),
    dict(shape=(5, 33), negative_slope=-0.5, inplace=True),
    dict(shape=(17, 45), strided=True, inplace=True),
    dict(shape=(5, 67), dtype=torch.float16),
    dict(shape=(2, 3, 65)),
    dict(shape=(0, 7)),
]

SIZES = [
    dict(shape=(4096,)),
    dict(shape=(512, 1024)),
    dict(shape=(4096, 4096), negative_slope=0.1, inplace=True),
    dict(shape=(134217728,)),
]

CONTRACT = Close()


def leaky_relu(input, negative_slope=0.01, inplace=False):
    return F.leaky_relu(input, negative_slope, inplace)


def inputs(make, shape, negative_slope=0.01, inplace=False, strided=False, dtype=None):
    x = make.floats(*shape, dtype=dtype)
    return call(make.strided(x) if strided else x, negative_slope=negative_slope, inplace=inplace)


def positive_formula(input, negative_slope=0.01, inplace=False):
    """Both halves clamped and added."""
    result = input.clamp(min=0) + negative_slope * input.clamp(max=0)
    return input.copy_(result) if inplace else result


def negative_default_slope(input, negative_slope=0.01, inplace=False):
    return F.leaky_relu(input, 0.01, inplace)


def negative_maximum(input, negative_slope=0.01, inplace=False):
    """max(x, slope * x) is right for slopes up to 1 only."""
    result = torch.maximum(input, input * negative_slope)
    return input.copy_(result) if inplace else result


def negative_elu(input, negative_slope=0.01, inplace=False):
    return F.elu(input, negative_slope, inplace=inplace)


def negative_always_inplace(input, negative_slope=0.01, inplace=False):
    return F.leaky_relu(input, negative_slope, True)


def negative_never_inplace(input, negative_slope=0.01, inplace=False):
    return F.leaky_relu(input, negative_slope)
