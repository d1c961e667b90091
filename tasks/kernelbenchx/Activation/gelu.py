"""Gaussian error linear unit (GELU), element by element.

`gelu(input, approximate="none")` returns a new tensor of the shape and dtype of `input`:

- `approximate="none"`: `0.5 * x * (1 + erf(x / sqrt(2)))`, the exact form, and the default;
- `approximate="tanh"`: `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))`.

`input` is a floating-point tensor of any shape, also with no elements, and need not be contiguous. It holds finite
numbers. The result never shares memory with `input`; its strides are not promised. Arithmetic is at the precision of
`input`.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("elementwise",)
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(37,), approximate="tanh"),
    dict(shape=(1000,)),
    dict(shape=(4099,), approximate="tanh"),
    dict(shape=(33, 65), approximate="none"),
    dict(shape=(7, 131), approximate="tanh"),
    dict(shape=(1,)),
    dict(shape=(0,)),
    dict(shape=(33, 65), strided=True),
    dict(shape=(3, 5, 129), approximate="tanh"),
    dict(shape=(2, 3, 17, 19)),
]

SIZES = [
    dict(shape=(4096,)),
    dict(shape=(1024, 1024)),
    dict(shape=(32768, 1024), approximate="tanh"),
    dict(shape=(134217728,)),
]

# The sum 1 + erf cancels for negative x, so errors are relative to 1, not to the small result.
CONTRACT = Close(scale=1.0)


def gelu(input: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    return F.gelu(input, approximate=approximate)


def inputs(make, shape, approximate="none", strided=False):
    x = make.floats(*shape)
    return call(make.strided(x) if strided else x, approximate=approximate)


def positive_textbook(input, approximate="none"):
    """Written out, with tanh from an exponential of a negative number."""
    if approximate == "none":
        return 0.5 * input * (1 + torch.erf(input * 0.7071067811865476))
    y = 0.7978845608028654 * (input + 0.044715 * input * input * input)
    e = torch.exp(-2 * y.abs())
    return 0.5 * input * (1 + torch.sign(y) * (1 - e) / (1 + e))


def negative_always_exact(input, approximate="none"):
    """Ignores `approximate`."""
    return F.gelu(input)


def negative_sigmoid(input, approximate="none"):
    """The popular shortcut `x * sigmoid(1.702 x)`."""
    return input * torch.sigmoid(1.702 * input)
