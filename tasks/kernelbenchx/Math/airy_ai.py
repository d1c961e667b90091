"""Airy function Ai, element by element.

`airy_ai(input, out=None)` returns `Ai(x)` for every element of a float32 tensor of any shape: the solution of

    y''(x) = x · y(x),      Ai(0) = 0.35502805,      Ai'(0) = -0.25881940,

that vanishes for `x` to infinity. It oscillates for negative `x`, asymptotically as
`sin(zeta + pi/4) / (sqrt(pi) |x|^(1/4))` with `zeta = 2/3 |x|^(3/2)`, and decays as `exp(-zeta) / (2 sqrt(pi) x^(1/4))`
for positive `x`.

`x` lies between -500 and 500; results below 1.2e-38 may be 0, NaN gives NaN. The error may be what rounding `zeta` to
float32 causes. `out`: if given, a contiguous float32 tensor of the input's shape; it is filled and returned. Otherwise
the result is a new tensor with any strides. `input` may be non-contiguous or empty.
"""

import math

import torch

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("elementwise", "special-function", "memory-bound")
MAGNITUDES = (-104,)

CASES = [
    dict(shape=(1,)),
    dict(shape=(4099,)),
    dict(shape=(7, 43), low=2.0, high=4.0),
    dict(shape=(257,), low=6.0, high=9.0),
    dict(shape=(37, 65), low=-25.0, high=-10.0),
    dict(shape=(17, 45), low=-10.0, high=6.0, strided=True),
    dict(shape=(5, 33), low=-2.5, high=2.5, out=True),
    dict(shape=(3, 0)),
    dict(shape=(2, 3, 65)),
    dict(shape=(9, 31), special=True),
    dict(shape=(301,), low=-100.0, high=-30.0),
]

SIZES = [
    dict(shape=(4096,)),
    dict(shape=(1048576,)),
    dict(shape=(4096, 4096), low=-10.0, high=6.0),
    dict(shape=(134217728,), low=-10.0, high=6.0),
]


def magnitude(input, out=None):
    """A rounding of zeta is an error of the phase, or a relative error of the exponential.

    Between -4 and -2.09 PyTorch's own approximation is off by up to 3e-6, in float64 too: a better kernel must pass.
    """
    x = input.abs()
    zeta = x.pow(1.5) * (2 / 3)
    size = torch.where(input < 0, 0.4, 0.4 * torch.exp(-zeta)) * (1 + zeta) / (1 + x).pow(0.25)
    return torch.where((input > -4) & (input < -2.09), 5 * size, size)


CONTRACT = Close(scale=magnitude)


def airy_ai(input: torch.Tensor, out: torch.Tensor = None) -> torch.Tensor:
    return torch.special.airy_ai(input, out=out)


def inputs(make, shape, low=None, high=None, special=False, strided=False, out=False):
    """`low` and `high` bound a case: next to the oscillating part the decaying one would not count."""
    x = make.floats(*shape, low=low, high=high)
    if special:
        x[0, :2] = torch.tensor([float("nan"), -2.3381074])
    return call(make.strided(x) if strided else x, out=torch.zeros_like(x) if out else None)


def _given(result, out):
    return result if out is None else out.copy_(result)


def _asymptotic(x, terms=8):
    """Both expansions in 1 / zeta, whose coefficients follow from one another; useful from |x| = 4 or 5 on."""
    a = x.abs().clamp(min=1)
    zeta = a.pow(1.5) * (2 / 3)
    term, sums = torch.ones_like(a), [torch.ones_like(a), torch.zeros_like(a)]
    decay = torch.ones_like(a)
    for k in range(1, terms):
        term = term * ((6 * k - 5) * (6 * k - 1) / (72 * k)) / zeta
        sums[k % 2] = sums[k % 2] + (1, 1, -1, -1)[k % 4] * term
        decay = decay + (-1) ** k * term
    phase, root = zeta + math.pi / 4, math.sqrt(math.pi) * a.pow(0.25)
    wave = sums[0] * torch.sin(phase) - sums[1] * torch.cos(phase)
    return torch.where(x < 0, wave, decay * torch.exp(-zeta) / 2) / root


def _integral(x):
    """Ai(x) = sqrt(x / 3) / pi · ∫ exp(-zeta cosh t) cosh(t / 3) dt from 0 to infinity, by the trapezoidal rule."""
    x = x.clamp(1, 100)
    zeta, step = x.pow(1.5) * (2 / 3), 0.125
    total = torch.exp(-zeta) / 2
    for k in range(1, 40):
        total = total + torch.exp(-zeta * math.cosh(k * step)) * math.cosh(k * step / 3)
    return step * total * torch.sqrt(x / 3) / math.pi


def _stepwise(x, steps=16):
    """From 0 in steps of a sixteenth of x; each sums the Taylor series that follows from y'' = x y."""
    h = x.clamp(-8, 1) / steps
    y, slope = torch.full_like(x, 0.3550280538878172), torch.full_like(x, -0.2588194037928068)
    for j in range(steps):
        c = [y, slope, j * h * y / 2]
        for k in range(1, 15):
            c.append((j * h * c[k] + c[k - 1]) / ((k + 1) * (k + 2)))
        powers = [h**k for k in range(len(c))]
        y = sum(a * p for a, p in zip(c, powers, strict=True))
        slope = sum(k * c[k] * powers[k - 1] for k in range(1, len(c)))
    return y


def positive_three_ways(input, out=None):
    """Expansion below -8, Taylor steps up to 1, integral above."""
    result = torch.where(input < 1, _stepwise(input), _integral(input))
    return _given(torch.where(input < -8, _asymptotic(input), result), out)


def positive_mostly_asymptotic(input, out=None):
    result = torch.where(input < 1, _stepwise(input), _integral(input))
    return _given(torch.where(input.abs() > 7, _asymptotic(input, 6), result), out)


def negative_leading_term(input, out=None):
    return _given(_asymptotic(input, 1), out)


def negative_no_oscillation(input, out=None):
    """Takes |x|."""
    return torch.special.airy_ai(input.abs(), out=out)


def negative_scaled(input, out=None):
    """exp(zeta) Ai(x) for positive x."""
    return _given(torch.special.airy_ai(input) * torch.exp(input.clamp(min=0).pow(1.5) * (2 / 3)), out)


def negative_maclaurin(input, out=None):
    """Four terms of either series."""
    x, z = input, input**3
    f = 1 + z / 6 * (1 + z / 30 * (1 + z / 72))
    g = x * (1 + z / 12 * (1 + z / 42 * (1 + z / 90)))
    return _given(0.3550280538878172 * f - 0.2588194037928068 * g, out)


def negative_ignores_out(input, out=None):
    return torch.special.airy_ai(input)
