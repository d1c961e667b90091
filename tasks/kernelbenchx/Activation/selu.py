"""Scaled exponential linear unit (SELU), element by element.

`selu(input, inplace=False)` computes

    scale * (max(0, x) + min(0, alpha * (exp(x) - 1)))

with `alpha = 1.6732632423543772848` and `scale = 1.0507009873554804935`, in the shape and dtype of `input`. Where
`exp(x)` overflows the result is `scale * x`. Errors are counted relative to 1: subtracting 1 from `exp(x)` is
accurate enough.

- `inplace=False`: the result is a new tensor and `input` is left as it was.
- `inplace=True`: the result is written into `input`, through its own strides, and `input` itself is returned.

`input` is a floating-point tensor of any shape, also without elements or without dimensions, and may be
non-contiguous. Infinities are ordinary values: `inf` stays, `-inf` becomes `-alpha * scale`; NaN does not occur. Half
precision is computed in float32 and rounded once. The strides of a new result are free.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 1
DTYPE = "float32"
TAGS = ("elementwise", "memory-bound", "in-place")
MAGNITUDES = (-104, 120)
MUTATES = ("input",)

CASES = [
    dict(shape=(37,)),
    dict(shape=(1000,)),
    dict(shape=(4099,)),
    dict(shape=(33, 65)),
    dict(shape=(7, 131)),
    dict(shape=()),
    dict(shape=(999,), special=True),
    dict(shape=(37,), inplace=True),
    dict(shape=(17, 45), strided=True),
    dict(shape=(5, 67), dtype=torch.float16),
    dict(shape=(2, 3, 65)),
    dict(shape=(0, 7)),
]

SIZES = [
    dict(shape=(4096,)),
    dict(shape=(512, 1024)),
    dict(shape=(4096, 4096)),
    dict(shape=(134217728,)),
]

# exp(x) - 1 cancels for small x: its error is one of alpha * scale * exp(x), about 1.
CONTRACT = Close(scale=1.0)


def selu(input: torch.Tensor, inplace: bool = False) -> torch.Tensor:
    return F.selu(input, inplace)


def inputs(make, shape, inplace=False, special=False, strided=False, dtype=None):
    """`special`: infinities, zeros, and numbers whose exponential overflows."""
    x = make.floats(*shape, dtype=dtype)
    if special:
        x[:8] = torch.tensor([float("inf"), float("-inf"), 0.0, -0.0, 100.0, -100.0, 1000.0, -1000.0])
    return call(make.strided(x) if strided else x, inplace=inplace)


ALPHA, SCALE = 1.6732632423543772848, 1.0507009873554804935


def positive_formula(input, inplace=False):
    """As in the statement, the exponential by base two."""
    x = input.to(torch.promote_types(input.dtype, torch.float32))
    falling = ALPHA * (torch.exp2(x * 1.4426950408889634) - 1)
    result = (SCALE * (x.clamp(min=0) + falling.clamp(max=0))).to(input.dtype)
    return input.copy_(result) if inplace else result


def negative_elu(input, inplace=False):
    """Without `scale`."""
    result = F.elu(input, ALPHA)
    return input.copy_(result) if inplace else result


def negative_short_constants(input, inplace=False):
    """Constants with three decimals."""
    result = 1.051 * (input.clamp(min=0) + (1.673 * (torch.exp(input) - 1)).clamp(max=0))
    return input.copy_(result) if inplace else result


def negative_blend(input, inplace=False):
    """Selects by multiplication: 0 * inf is NaN where the exponential overflows."""
    rising = (input > 0).to(input.dtype)
    result = SCALE * (rising * input + (1 - rising) * ALPHA * (torch.exp(input) - 1))
    return input.copy_(result) if inplace else result


def negative_always_inplace(input, inplace=False):
    return F.selu(input, True)


def negative_never_inplace(input, inplace=False):
    return F.selu(input)
