"""Gaussian error linear unit (GELU) of 8-bit integers, element by element.

`gelu_int8(input, approximate="none")` takes an int8 tensor of any shape and returns a new int8 tensor of that shape:
`gelu` in float32, converted to int8 towards zero (the fraction is dropped), with

- `approximate="none"`: `gelu(x) = 0.5 * x * (1 + erf(x / sqrt(2)))`, the default;
- `approximate="tanh"`: `gelu(x) = 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))`.

The integers are plain numbers, without scale and zero point. So `gelu(1) = 0.841` becomes 0, `gelu(3) = 2.996` becomes 2,
`gelu(4) = 3.99987` becomes 3 (in float16 it would be 4) and `gelu(6) = 5.999999994`, which is 6.0 in float32, becomes 6.
With `approximate="tanh"` `x = 5` does not occur: there the last place of a float32 decides between 4 and 5.

`input` may be empty and need not be contiguous. Results are compared exactly; their strides are not promised.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Exact, call

DIFFICULTY = 1
DTYPE = "int8"
TAGS = ("elementwise", "int8", "memory-bound")
DISTRIBUTIONS = ("standard",)

CASES = [
    dict(every=True),
    dict(every=True, approximate="tanh"),
    dict(shape=(4099,), approximate="tanh"),
    dict(shape=(37,)),
    dict(shape=(33, 65), approximate="none"),
    dict(shape=(7, 131), approximate="tanh"),
    dict(shape=(1,)),
    dict(shape=(33, 65), strided=True),
    dict(shape=(3, 5, 129), approximate="tanh"),
    dict(shape=(0, 7)),
    dict(shape=()),
]

SIZES = [
    dict(shape=(4096,)),
    dict(shape=(1048576,)),
    dict(shape=(4096, 8192), approximate="tanh"),
    dict(shape=(134217728,)),
]

CONTRACT = Exact()


def gelu_int8(input: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    return F.gelu(input.float(), approximate=approximate).to(torch.int8)


def inputs(make, shape=(), every=False, approximate="none", strided=False):
    """`every`: all values in order. Otherwise half of them are near zero, where GELU is not yet `x` or 0."""
    if every:
        x = torch.arange(-128, 128, dtype=torch.int8, device=make.device)
    else:
        x, near = (make.ints(*shape, low=low, high=-low, dtype=torch.int8) for low in (-128, -6))
        x = torch.where(make.bools(*shape), x, near)
    if approximate == "tanh":
        x = torch.where(x == 5, 4, x)
    return call(make.strided(x) if strided else x, approximate=approximate)


def positive_table(input, approximate="none"):
    """Looks up 256 results, computed in float64 and rounded to float32."""
    x = torch.arange(-128, 128, dtype=torch.float64, device=input.device)
    if approximate == "none":
        y = 0.5 * x * (1 + torch.erf(x * 0.5**0.5))
    else:
        y = 0.5 * x * (1 + torch.tanh(0.7978845608028654 * (x + 0.044715 * x**3)))
    return y.float().to(torch.int8)[input.long() + 128]


def positive_erfc_and_sigmoid(input, approximate="none"):
    """Without a sum that cancels."""
    x = input.float()
    if approximate == "none":
        return (0.5 * x * torch.erfc(-x * 0.5**0.5)).to(torch.int8)
    return (x * torch.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))).to(torch.int8)


def negative_rounded(input, approximate="none"):
    """To the nearest integer: gelu(1) = 0.841 becomes 1."""
    return F.gelu(input.float(), approximate=approximate).round().to(torch.int8)


def negative_half(input, approximate="none"):
    """In float16, where gelu(4) is 4."""
    return F.gelu(input.half(), approximate=approximate).to(torch.int8)


def negative_relu(input, approximate="none"):
    return input.clamp(min=0)


def negative_unsigned(input, approximate="none"):
    """Reads bytes as 0 to 255."""
    x = (input.int() & 255).float()
    return F.gelu(x, approximate=approximate).clamp(max=127).to(torch.int8)


def negative_fixed_point(input, approximate="none"):
    """Takes the integers for fractions of 127."""
    return (F.gelu(input.float() / 127, approximate=approximate) * 127).to(torch.int8)


def negative_leaky(input, approximate="none"):
    return torch.where(input < 0, 0.01 * input.float(), F.gelu(input.float(), approximate=approximate)).to(torch.int8)
