"""Complementary error function and square root of the same tensor, element by element.

`erfc_sqrt(input)` returns the tuple `(erfc, root)` of two new float32 tensors of `input`'s shape:

    erfc(x) = 1 - erf(x) = 2 / sqrt(pi) · ∫ exp(-t²) dt from x to infinity,      root(x) = sqrt(x).

- `erfc` keeps its relative accuracy for large `x`, where it is tiny, as well as exp(-x²) allows: `1 - erf(x)` is too
  inaccurate from about `x = 2` on. It is 2 at `-inf`, 0 at `inf`; results below 1.2e-38 may be 0.
- `root` is NaN for negative `x`, `inf` for `inf`, and 0 for either zero.
- NaN gives NaN in both.

`input` is a float32 tensor and may be non-contiguous or empty; the results' strides are free.
"""

from typing import Tuple  # noqa: UP035

import torch

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("elementwise", "special-function", "fusion", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(4099,)),
    dict(shape=(1021,), low=0.0),
    dict(shape=(301,), low=2.0, high=4.0),
    dict(shape=(5, 29), low=4.0, high=8.0),
    dict(shape=(37, 65)),
    dict(shape=(1,)),
    dict(shape=(17, 45), low=0.0, strided=True),
    dict(shape=(5, 77), special=True),
    dict(shape=(3, 0)),
    dict(shape=(2, 3, 65)),
]

SIZES = [
    dict(shape=(4096,)),
    dict(shape=(1048576,), low=0.0),
    dict(shape=(4096, 4096), low=0.0, high=4.0),
    dict(shape=(100663296,), low=0.0),
]


def magnitude(input):
    """A rounding of x² is a relative error of exp(-x²)."""
    x = input.clamp(0, 10)
    return x * x * torch.erfc(x)


CONTRACT = Close(scale=magnitude)


def erfc_sqrt(input: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:  # noqa: UP006
    return torch.special.erfc(input), torch.sqrt(input)


def inputs(make, shape, low=None, high=None, special=False, strided=False):
    x = make.floats(*shape, low=low, high=high)
    if special:
        x[0, :5] = torch.tensor([float("inf"), -float("inf"), float("nan"), -0.0, 1e-30])
    return call(make.strided(x) if strided else x)


def positive_continued_fraction(input):
    """erfc from its continued fraction, below 1 from the series of erf; the root by exponential and logarithm."""
    a = input.abs().clamp(max=20)
    fraction = a.clamp(min=1)
    for k in range(100, 0, -1):
        fraction = a.clamp(min=1) + k / 2 / fraction
    gauss = torch.exp(-a * a)
    far = 0.5641895835477563 * gauss / fraction
    b = a.clamp(max=1)
    term = total = b
    for n in range(1, 24):
        term = term * (2 * b * b) / (2 * n + 1)
        total = total + term
    near = 1 - 1.1283791670955126 * gauss * total
    erfc = torch.where(a > 1, far, near)
    return torch.where(input < 0, 2 - erfc, erfc), torch.where(input < 0, float("nan"), input.abs().pow(0.5))


def negative_one_minus_erf(input):
    return 1 - torch.erf(input), torch.sqrt(input)


def negative_root_of_erfc(input):
    erfc = torch.erfc(input)
    return erfc, torch.sqrt(erfc)


def negative_swapped(input):
    return torch.sqrt(input), torch.erfc(input)


def negative_root_of_absolute_value(input):
    return torch.erfc(input), torch.sqrt(input.abs())


def negative_list(input):
    return [torch.erfc(input), torch.sqrt(input)]


def negative_even(input):
    """Forgets that erfc(-x) is 2 - erfc(x)."""
    return torch.erfc(input.abs()), torch.sqrt(input)
