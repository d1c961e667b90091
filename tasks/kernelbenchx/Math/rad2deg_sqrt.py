"""Two results from one pass: radians as degrees, and the square root.

`rad2deg_sqrt(input)` returns the tuple `(degrees, root)` of new tensors, both of `input`'s shape and dtype, with any
strides:

- `degrees = x * (180 / π)` for every element `x`;
- `root = √x`, which is NaN for `x < 0`, and zero for `-0.0`.

Infinities and NaN follow IEEE 754: `√inf = inf`, `√-inf` is NaN. `input` is a floating-point tensor of any shape; it
may be non-contiguous, empty or without dimensions. Half precision is computed in float32 and rounded once.
"""

from typing import Tuple  # noqa: UP035

import torch

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("elementwise", "memory-bound", "fusion")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(4099,)),
    dict(shape=(37, 65)),
    dict(shape=(1,)),
    dict(shape=(1021,)),
    dict(shape=(7, 129)),
    dict(shape=()),
    dict(shape=(999,), special=True),
    dict(shape=(37, 45), strided=True),
    dict(shape=(2, 3, 65)),
    dict(shape=(6, 65), dtype=torch.float64),
    dict(shape=(7, 67), dtype=torch.float16),
    dict(shape=(3, 0)),
]

SIZES = [dict(shape=(4096,)), dict(shape=(1024, 1024)), dict(shape=(4096, 4096)), dict(shape=(134217728,))]

CONTRACT = Close()


def rad2deg_sqrt(input: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:  # noqa: UP006
    return torch.rad2deg(input), torch.sqrt(input)


def inputs(make, shape, special=False, strided=False, dtype=None):
    """Numbers of both signs; `special` adds NaN, infinities and zeros."""
    x = make.floats(*shape, dtype=dtype)
    if special:
        x[:5] = torch.tensor([float("nan"), float("inf"), float("-inf"), 0.0, -0.0])
    return call(make.strided(x) if strided else x)


def positive_quotient_and_power(input):
    x = input.to(torch.promote_types(input.dtype, torch.float32))
    root = torch.where(x < 0, float("nan"), x.pow(0.5))
    return (x / torch.pi * 180).to(input.dtype), root.to(input.dtype)


def negative_deg2rad(input):
    return torch.deg2rad(input), torch.sqrt(input)


def negative_short_pi(input):
    return input * (180 / 3.1416), torch.sqrt(input)


def negative_root_of_degrees(input):
    """The second operation applied to the first one's result."""
    degrees = torch.rad2deg(input)
    return degrees, torch.sqrt(degrees)


def negative_root_clamped(input):
    """0 instead of NaN for negative numbers."""
    return torch.rad2deg(input), torch.sqrt(input.clamp(min=0))


def negative_swapped(input):
    return torch.sqrt(input), torch.rad2deg(input)


def negative_list(input):
    return [torch.rad2deg(input), torch.sqrt(input)]
