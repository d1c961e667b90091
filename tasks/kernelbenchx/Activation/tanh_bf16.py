"""Hyperbolic tangent in bfloat16, element by element.

`tanh_bf16(input)` computes `(exp(x) - exp(-x)) / (exp(x) + exp(-x))` for every element `x` of a bfloat16 tensor of
any shape, in float32, and rounds to bfloat16 once, at the end.

`tanh(inf) = 1`, `tanh(-inf) = -1`, and NaN stays NaN. Inputs reach hundreds: no intermediate overflow may turn into
NaN.

`input` may be non-contiguous, empty or without dimensions. The result is a new bfloat16 tensor of `input`'s shape
with any strides.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 1
EXTRA = True
DTYPE = "bfloat16"
TAGS = ("elementwise", "memory-bound", "bf16")
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
    dict(shape=(3, 67, 5)),
    dict(shape=(2, 3, 5, 33)),
    dict(shape=(0, 7)),
]

SIZES = [dict(shape=(4096,)), dict(shape=(1024, 1024)), dict(shape=(8192, 8192)), dict(shape=(268435456,))]

# A sum with 1 errs by 2^-24 in float32, however small the result is. 32 times that, as in float32, is 2^-8 times the 2^-11 of bfloat16.
CONTRACT = Close(scale=2.0**-8)


def tanh_bf16(input: torch.Tensor) -> torch.Tensor:
    return torch.tanh(input)


def inputs(make, shape, special=False, strided=False):
    """`special`: NaN, infinities, and numbers whose exponential overflows."""
    x = make.floats(*shape)
    if special:
        x[:7] = torch.tensor([float("nan"), float("inf"), float("-inf"), 100.0, -100.0, 1000.0, -1000.0])
    return call(make.strided(x) if strided else x)


def positive_sigmoid(input):
    """2 σ(2 x) - 1, rounded once."""
    return (2 * torch.sigmoid(2 * input.float()) - 1).to(input.dtype)


def negative_overflow(input):
    """The definition as it stands: inf / inf for large x."""
    a, b = torch.exp(input.float()), torch.exp(-input.float())
    return ((a - b) / (a + b)).to(input.dtype)


def negative_bf16_arithmetic(input):
    """2 σ(2 x) - 1, rounded to bfloat16 before the subtraction: small results lose their digits."""
    return 2 * torch.sigmoid(2 * input) - 1


def negative_pade(input):
    """x (27 + x²) / (27 + 9 x²), clamped: good near 0 only."""
    x = input.float()
    return (x * (27 + x * x) / (27 + 9 * x * x)).clamp(-1, 1).to(input.dtype)


def negative_float32_result(input):
    return torch.tanh(input.float())
