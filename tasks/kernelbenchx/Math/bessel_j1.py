"""Bessel function of the first kind of order 1, element by element.

`bessel_j1(input, out=None)` returns

    J1(x) = 1 / pi · ∫ cos(t - x sin t) dt from 0 to pi

for every element of a float32 tensor of any shape. `J1` is odd, near `x / 2` for small `x`, and oscillates
asymptotically as `sqrt(2 / (pi x)) · cos(x - 3/4 pi)`.

`|x|` is at most 10⁴; NaN gives NaN. The error may be what rounding the phase `x - 3/4 pi` to float32 causes. `out`: if
given, a contiguous float32 tensor of the input's shape; it is filled and returned. Otherwise the result is a new tensor
with any strides. `input` may be non-contiguous or empty.
"""

import math

import torch

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("elementwise", "special-function", "memory-bound")
MAGNITUDES = (-52, 120)

CASES = [
    dict(shape=(1,)),
    dict(shape=(4099,)),
    dict(shape=(257,), low=4.0, high=9.0),
    dict(shape=(37, 65)),
    dict(shape=(9, 31), low=-29.0, high=-10.0),
    dict(shape=(17, 45), low=-12.0, high=12.0, strided=True),
    dict(shape=(5, 33), low=-5.5, high=5.5, out=True),
    dict(shape=(3, 0)),
    dict(shape=(2, 3, 65)),
    dict(shape=(77,), special=True),
    dict(shape=(301,), low=-200.0, high=-20.0),
]

SIZES = [
    dict(shape=(4096,)),
    dict(shape=(1048576,)),
    dict(shape=(4096, 4096), low=-12.0, high=12.0),
    dict(shape=(134217728,), low=-12.0, high=12.0),
]


def magnitude(input, out=None):
    """A rounding of the phase is an error of the cosine."""
    x = input.abs()
    return x / (1 + x).sqrt()


CONTRACT = Close(scale=magnitude)


def bessel_j1(input: torch.Tensor, out: torch.Tensor = None) -> torch.Tensor:
    return torch.special.bessel_j1(input, out=out)


def inputs(make, shape, low=None, high=None, special=False, strided=False, out=False):
    x = make.floats(*shape, low=low, high=high)
    if special:
        x[:7] = torch.tensor([float("nan"), 0.0, -0.0, 1e-20, 3.8317060, -7.0155867, 1e4])
    return call(make.strided(x) if strided else x, out=torch.zeros_like(x) if out else None)


def _given(result, out):
    return result if out is None else out.copy_(result)


def _series(x, terms):
    z = -x * x / 4
    term = total = x / 2
    for k in range(1, terms):
        term = term * z / (k * (k + 1))
        total = total + term
    return total


def _hankel(x, terms):
    """Expansion in 1 / x of modulus and phase, for |x| above 8; coefficients follow from one another."""
    a = x.abs().clamp(min=1)
    term, sums = torch.ones_like(a), [torch.ones_like(a), torch.zeros_like(a)]
    for k in range(1, terms):
        term = term * ((4 - (2 * k - 1) ** 2) / (8 * k)) / a
        sums[k % 2] = sums[k % 2] + (1, 1, -1, -1)[k % 4] * term
    phase = a - 0.75 * math.pi
    wave = sums[0] * torch.cos(phase) - sums[1] * torch.sin(phase)
    return torch.copysign(torch.sqrt(2 / (math.pi * a)), x) * wave


def positive_integral_and_expansion(input, out=None):
    """The definition by the midpoint rule up to 40, the expansion above."""
    x = input.clamp(-40, 40)
    angles = [math.pi * (k + 0.5) / 64 for k in range(64)]
    # Cosines of t and -t averaged, so that small x does not cancel against cos t.
    mean = sum(math.sin(t) * torch.sin(x * math.sin(t)) for t in angles) / 64
    return _given(torch.where(input.abs() > 40, _hankel(input, 6), mean), out)


def positive_recurrence(input, out=None):
    """Miller's: down from a high order, normalized by J0 + 2 J2 + 2 J4 + … = 1; expansion above 20, series below 1."""
    x = input.abs().clamp(1, 20)
    above, order, total = torch.zeros_like(x), torch.full_like(x, 1e-30), torch.zeros_like(x)
    for n in range(44, 0, -1):
        if n % 2 == 0:
            total = total + 2 * order
        above, order = order, 2 * n / x * order - above
    result = above / (total + order)
    result = torch.where(input < 0, -result, result)
    result = torch.where(input.abs() < 1, _series(input, 8), result)
    return _given(torch.where(input.abs() > 20, _hankel(input, 8), result), out)


def negative_order_zero(input, out=None):
    return torch.special.bessel_j0(input, out=out)


def negative_even(input, out=None):
    """Forgets the sign."""
    return torch.special.bessel_j1(input.abs(), out=out)


def negative_leading_term(input, out=None):
    return _given(_hankel(input, 1), out)


def negative_short_series(input, out=None):
    return _given(_series(input, 6), out)


def negative_ignores_out(input, out=None):
    return torch.special.bessel_j1(input)
