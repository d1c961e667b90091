"""Cosine and its sign bit, element by element.

`fused_cos_signbit(input)` returns a tuple of two tensors of `input`'s shape: `cos(input)` (radians, float32), and a
bool tensor that is true where that cosine is negative.

`input` is a finite float32 tensor of any shape, possibly non-contiguous or empty. No float32 number is a zero of the
cosine, so the sign is always defined, and it must be right next to the zeros too: reduce the argument by more than a
float32 π. The results are new tensors; their strides are not promised.
"""

from typing import Tuple  # noqa: UP035

import torch

from kbx.suite import Close, call

DIFFICULTY = 1
DTYPE = "float32"
TAGS = ("elementwise", "memory-bound", "fusion")
MAGNITUDES = (-104, 44)

CASES = [
    dict(shape=(3,)),
    dict(shape=(37,)),
    dict(shape=(256,)),
    dict(shape=(1023,)),
    dict(shape=(2053,)),
    dict(shape=(1,)),
    dict(shape=(1033,), strided=True),
    dict(shape=(37, 61)),
    dict(shape=(2, 3, 65)),
    dict(shape=(337,), spread=2000.0),
    dict(shape=(389,), zeros=True),
    dict(shape=(0,)),
]

SIZES = [dict(shape=(4096,)), dict(shape=(1048576,)), dict(shape=(16777216,)), dict(shape=(134217728,))]

CONTRACT = Close()


def fused_cos_signbit(input: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:  # noqa: UP006
    cosine = torch.cos(input)
    return cosine, torch.signbit(cosine)


def inputs(make, shape, spread=1.0, zeros=False, strided=False):
    """``zeros``: the floats nearest to odd multiples of π/2, on either side of a sign change."""
    x = make.floats(*shape) * spread
    if zeros:
        x = ((2 * make.ints(*shape, low=-100, high=100).double() + 1) * (torch.pi / 2)).to(x.dtype)
    return call(make.strided(x) if strided else x)


def positive_double_angle(input):
    """cos x = 1 - 2 sin²(x/2), in float64; the sign from the number of half turns."""
    x = input.double()
    half_turns = torch.floor(x / torch.pi + 0.5)
    return (1 - 2 * torch.sin(x / 2) ** 2).to(input.dtype), half_turns.remainder(2) == 1


def negative_sign_of_input(input):
    return torch.cos(input), torch.signbit(input)


def negative_positive_bit(input):
    return torch.cos(input), torch.cos(input) >= 0


def negative_sine(input):
    return torch.sin(input), torch.signbit(torch.sin(input))


def negative_float32_reduction(input):
    """Takes off multiples of a π that was rounded to float32."""
    turn = torch.tensor(2 * torch.pi, dtype=input.dtype, device=input.device)
    cosine = torch.cos(input - torch.round(input / turn) * turn)
    return cosine, torch.signbit(cosine)


def negative_sign_as_float(input):
    cosine = torch.cos(input)
    return cosine, torch.signbit(cosine).to(input.dtype)
