"""Gaussian error linear unit (GELU) in float16, element by element.

`gelu_fp16(input, approximate="none")` returns a new float16 tensor of `input`'s shape:

- `approximate="none"`, the default: `x * Φ(x)`, Φ the normal distribution function, `Φ(x) = (1 + erf(x / √2)) / 2`;
- `approximate="tanh"`: `x / 2 * (1 + tanh(√(2/π) * (x + 0.044715 * x³)))`.

Arithmetic is float32, rounded to float16 once, at the end. The two forms differ by a tenth of the result around
`x = -3` and are told apart there.

`input` is float16, of any shape, also without elements or without dimensions, and may be non-contiguous. It holds
finite numbers. The result's strides are not promised.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 1
DTYPE = "float16"
TAGS = ("elementwise", "memory-bound", "fp16")
MAGNITUDES = (-10, 12)

CASES = [
    dict(shape=(4099,)),
    dict(shape=(1009,), approximate="tanh"),
    dict(shape=(500,), tail=True),
    dict(shape=(383,), tail=True, approximate="tanh"),
    dict(shape=(33, 65), approximate="none"),
    dict(shape=(7, 131), approximate="tanh"),
    dict(shape=()),
    dict(shape=(17, 45), strided=True),
    dict(shape=(3, 5, 67), approximate="tanh"),
    dict(shape=(0, 7)),
]

SIZES = [
    dict(shape=(4096,)),
    dict(shape=(1024, 1024)),
    dict(shape=(65536, 512), approximate="tanh"),
    dict(shape=(268435456,)),
]

# 1 + erf errs by 2^-24 in float32, however small the result is. 32 times that, as in float32, is 2^-5 times the 2^-14 of float16.
CONTRACT = Close(scale=2.0**-5)


def gelu_fp16(input: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    return F.gelu(input, approximate=approximate)


def inputs(make, shape, approximate="none", tail=False, strided=False):
    """`tail` stays where the two forms differ most in proportion to their values."""
    x = make.plain(*shape, low=-3.5, high=-2.5) if tail else make.floats(*shape)
    return call(make.strided(x) if strided else x, approximate=approximate)


def positive_erfc_and_sigmoid(input, approximate="none"):
    """Φ by the complementary error function; tanh through the logistic function, (1 + tanh(z)) / 2 = σ(2z)."""
    x = input.float()
    if approximate == "none":
        return (0.5 * x * torch.erfc(-x * 0.5**0.5)).to(input.dtype)
    return (x * torch.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))).to(input.dtype)


def negative_always_erf(input, approximate="none"):
    return F.gelu(input)


def negative_always_tanh(input, approximate="none"):
    return F.gelu(input, approximate="tanh")


def negative_fp16_arithmetic(input, approximate="none"):
    """Rounds to float16 after every operation."""
    if approximate == "none":
        return 0.5 * input * (1 + torch.erf(input * 0.5**0.5))
    return 0.5 * input * (1 + torch.tanh(0.7978845608 * (input + 0.044715 * input * input * input)))


def negative_sigmoid_gelu(input, approximate="none"):
    """x · σ(1.702 x), a third approximation that nobody asked for."""
    return input * torch.sigmoid(1.702 * input)


def negative_float32_result(input, approximate="none"):
    return F.gelu(input.float(), approximate=approximate)
