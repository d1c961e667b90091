"""Rectified linear unit (ReLU) in float16, element by element.

`relu_fp16(input)` returns `max(x, 0)` for every element `x` of a float16 tensor of any shape: a new float16 tensor of
`input`'s shape with any strides. Values above 0 are copied bit for bit.

`input` may be non-contiguous, empty or without dimensions. Infinities are ordinary values; NaN does not occur. The
sign of a zero in the result is free.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Exact, call

DIFFICULTY = 2
EXTRA = True
DTYPE = "float16"
TAGS = ("elementwise", "memory-bound", "fp16")
MAGNITUDES = (-10, 12)

CASES = [
    dict(shape=(37,)),
    dict(shape=(1000,)),
    dict(shape=(4099,)),
    dict(shape=(33, 65)),
    dict(shape=(7, 131)),
    dict(shape=()),
    dict(shape=(999,), special=True),
    dict(shape=(17, 45), strided=True),
    dict(shape=(3, 67, 5)),
    dict(shape=(2, 3, 5, 33)),
    dict(shape=(0, 7)),
]

SIZES = [dict(shape=(4096,)), dict(shape=(1024, 1024)), dict(shape=(8192, 8192)), dict(shape=(268435456,))]

CONTRACT = Exact()


def relu_fp16(input: torch.Tensor) -> torch.Tensor:
    return F.relu(input)


def inputs(make, shape, special=False, strided=False):
    """`special`: infinities, zeros, and the largest and smallest numbers of the dtype."""
    x = make.floats(*shape)
    if special:
        info = torch.finfo(x.dtype)
        x[:7] = torch.tensor([float("inf"), float("-inf"), 0.0, -0.0, info.max, info.min, info.tiny])
    return call(make.strided(x) if strided else x)


def positive_select(input):
    return torch.where(input > 0, input, torch.zeros_like(input))


def negative_leaky(input):
    return F.leaky_relu(input, 0.01)


def negative_relu6(input):
    return F.relu6(input)


def negative_product(input):
    """x * (x > 0) is NaN for -inf."""
    return input * (input > 0)


def negative_absolute(input):
    return input.abs()


def negative_float32_result(input):
    return F.relu(input.float())
