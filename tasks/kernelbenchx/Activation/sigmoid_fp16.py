"""Logistic sigmoid in float16, element by element.

`sigmoid_fp16(input)` computes `1 / (1 + exp(-x))` for every element `x` of a float16 tensor of any shape, in float32,
and rounds to float16 once, at the end.

`sigmoid(inf) = 1`, `sigmoid(-inf) = 0`, and NaN stays NaN. Inputs reach hundreds: no intermediate overflow may turn
into NaN.

`input` may be non-contiguous, empty or without dimensions. The result is a new float16 tensor of `input`'s shape with
any strides.
"""

import torch

from kbx.suite import Close, call

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

# A sum with 1 errs by 2^-24 in float32, however small the result is. 32 times that, as in float32, is 2^-5 times the 2^-14 of float16.
CONTRACT = Close(scale=2.0**-5)


def sigmoid_fp16(input: torch.Tensor) -> torch.Tensor:
    return torch.sigmoid(input)


def inputs(make, shape, special=False, strided=False):
    """`special`: NaN, infinities, and numbers whose exponential overflows."""
    x = make.floats(*shape)
    if special:
        x[:7] = torch.tensor([float("nan"), float("inf"), float("-inf"), 100.0, -100.0, 1000.0, -1000.0])
    return call(make.strided(x) if strided else x)


def positive_tanh(input):
    """(1 + tanh(x / 2)) / 2, rounded once."""
    return (0.5 * (1 + torch.tanh(0.5 * input.float()))).to(input.dtype)


def negative_overflow(input):
    """exp(x) / (1 + exp(x)) is inf / inf for large x."""
    e = torch.exp(input.float())
    return (e / (1 + e)).to(input.dtype)


def negative_hard(input):
    """The piecewise linear imitation."""
    return torch.nn.functional.hardsigmoid(input)


def negative_clamped(input):
    return torch.sigmoid(input.clamp(-2, 2))


def negative_float32_result(input):
    return torch.sigmoid(input.float())
