"""Digamma function, the logarithmic derivative of the gamma function, element by element.

`digamma(input_tensor)` returns `psi(x) = Gamma'(x) / Gamma(x)` for every element of a float32 tensor of any shape, as a
new tensor of its shape with any strides. For positive `x`, `psi` rises from `-inf`, through 0 at 1.46163, like
`log(x)`; for negative `x` it follows from the reflection

    psi(x) = psi(1 - x) - pi / tan(pi x).

Poles: `-inf` at `0.0`, `inf` at `-0.0`, NaN at -1, -2, …; NaN gives NaN, `inf` gives `inf`, `-inf` does not occur. The
argument is exact as given: `pi x` must be reduced accurately, for `x` down to -1000. Errors near the zeros may be
absolute, of the size of the neighbouring values. `input_tensor` may be non-contiguous or empty.
"""

import math

import torch

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("elementwise", "special-function", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(1,), low=0.2),
    dict(shape=(4099,), low=0.3),
    dict(shape=(1021,), low=1.0, high=2.0),
    dict(shape=(257,), low=9.0, high=18.0),
    dict(shape=(37,), low=0.2, high=1.0),
    dict(shape=(45,), low=1.0, high=2.0, strided=True),
    dict(shape=(17, 45), low=1.0, high=2.0),
    dict(shape=(301,), low=20.0, high=1000.0),
    dict(shape=(0,)),
    dict(shape=(256,), low=-10.0, high=-0.2),
    dict(shape=(279,), low=-1000.0, high=-10.0),
    dict(shape=(77,), low=0.5, special=True),
]

SIZES = [
    dict(shape=(4096,), low=0.2),
    dict(shape=(1048576,), low=0.2),
    dict(shape=(16777216,), low=0.2),
    dict(shape=(134217728,), low=0.2),
]


def magnitude(input_tensor):
    """What recurrence, expansion and reflection add up: logarithms, and the cotangent's part."""
    return 1 + input_tensor.abs().log1p().clamp(max=100)


CONTRACT = Close(scale=magnitude)


def digamma(input_tensor):
    return torch.special.digamma(input_tensor)


def inputs(make, shape, low=None, high=None, special=False, strided=False):
    """Values keep a tenth away from the poles: next to a pole's value no other one would count."""
    x = make.floats(*shape, low=low, high=high)
    x = torch.where(x < 0, x.floor() + 0.1 + 0.8 * (x - x.floor()), x.clamp(min=low if low and low > 0 else 0.1))
    if special:
        x[:9] = torch.tensor([0.0, -0.0, -1.0, -2.0, -37.0, float("nan"), float("inf"), 1.0, 1.4616321])
    return call(make.strided(x) if strided else x)


def _expansion(x, terms):
    """log(x) - 1/(2x) - the sum of B_2k / (2k x^2k)."""
    z, total = 1 / (x * x), torch.zeros_like(x)
    for c in (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132)[:terms][::-1]:
        total = z * (c + total)
    return torch.log(x) - 0.5 / x - total


def _risen(x, least, steps):
    """psi(x) = psi(x + 1) - 1 / x until x is large enough for the expansion."""
    total = torch.zeros_like(x)
    for _ in range(steps):
        low = x < least
        total = torch.where(low, total - 1 / x, total)
        x = torch.where(low, x + 1, x)
    return total + _expansion(x, 5)


def _with_poles(x, result):
    result = torch.where((x < 0) & (x == x.round()), float("nan"), result)
    return torch.where(x == 0, torch.copysign(torch.full_like(x, float("inf")), -x), result)


def positive_reflection(input_tensor):
    x = input_tensor
    r = x - x.round()
    positive = torch.where(x < 0, 1 - x, x)
    result = _risen(positive, 6, 6)
    return _with_poles(x, torch.where(x < 0, result - math.pi / torch.tan(math.pi * r), result))


def positive_cotangent_by_sines(input_tensor):
    """The same with x up to 10 and cos / sin."""
    x = input_tensor
    r = math.pi * (x - x.floor())
    result = _risen(torch.where(x < 0, -x, x), 10, 10) + torch.where(x < 0, -1 / x, 0.0)
    return _with_poles(x, torch.where(x < 0, result - math.pi * torch.cos(r) / torch.sin(r), result))


def negative_no_recurrence(input_tensor):
    """The expansion also for small arguments."""
    return _with_poles(input_tensor, _expansion(input_tensor, 5))


def negative_positive_only(input_tensor):
    return torch.special.digamma(input_tensor.abs())


def negative_unreduced_cotangent(input_tensor):
    """tan(pi x) of the rounded product."""
    x = input_tensor
    result = torch.special.digamma(torch.where(x < 0, 1 - x, x))
    return _with_poles(x, torch.where(x < 0, result - math.pi / torch.tan(math.pi * x), result))


def negative_logarithm(input_tensor):
    return _with_poles(input_tensor, torch.log(input_tensor) - 0.5 / input_tensor)


def negative_finite_at_poles(input_tensor):
    return torch.special.digamma(input_tensor).nan_to_num(0, 0, 0)
