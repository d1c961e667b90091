"""Logarithm of the gamma function's absolute value, element by element.

`gammaln(input, out=None)` returns `log |Gamma(x)|` for every element of a float32 tensor of any shape. For negative `x`
it is

    log |Gamma(x)| = log(pi / |sin(pi x)|) - log Gamma(1 - x),

not the value at `|x|`. It is `inf` at 0, -1, -2, … and at both infinities; NaN gives NaN. `Gamma(x)` itself overflows
from about 35 on, its logarithm does not. Errors near the zeros (1, 2 and some negative values) may be absolute, of the
size of the neighbouring values.

`out`: if given, a contiguous float32 tensor of the input's shape; it is filled and returned. Otherwise the result is a
new tensor with any strides. `input` may be non-contiguous or empty.
"""

import math

import torch

from kbx.suite import Close, call

DIFFICULTY = 1
DTYPE = "float32"
TAGS = ("elementwise", "special-function", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(1,), low=0.2),
    dict(shape=(4099,), low=0.2),
    dict(shape=(37, 65), low=0.5, high=3.0),
    dict(shape=(257,), low=30.0, high=500.0),
    dict(shape=(101,), low=-4.5, high=-0.2),
    dict(shape=(17, 45), low=0.5, high=3.0, strided=True),
    dict(shape=(5, 33), low=30.0, high=500.0, out=True),
    dict(shape=(3, 0)),
    dict(shape=(2, 3, 65), low=0.5),
    dict(shape=(256,), low=-4.5, high=4.0),
    dict(shape=(9, 31), low=-60.0, high=-10.0),
    dict(shape=(77,), low=0.5, special=True),
]

SIZES = [
    dict(shape=(4096,), low=0.1),
    dict(shape=(1048576,), low=-10.0, high=10.0),
    dict(shape=(4096, 4096), low=0.1),
    dict(shape=(134217728,), low=-10.0, high=10.0),
]


def magnitude(input, out=None):
    """The terms of Lanczos's formula, or of Stirling's for a risen argument, which nearly cancel for small x."""
    x = input.abs().clamp(max=1e30) + 5
    return x * torch.log(x)


CONTRACT = Close(scale=magnitude)


def gammaln(input: torch.Tensor, out: torch.Tensor = None) -> torch.Tensor:
    return torch.special.gammaln(input, out=out)


def inputs(make, shape, low=None, high=None, special=False, strided=False, out=False):
    """Negative values keep a hundredth away from the poles, where pi x must not decide."""
    x = make.floats(*shape, low=low, high=high)
    x = torch.where(x < 0, x.floor() + 0.01 + 0.98 * (x - x.floor()), x)
    if special:
        edges = [0.0, -0.0, -1.0, -2.0, float("nan"), float("inf"), -float("inf"), 1.0, 2.0, 100.0, 1e-20]
        x[: len(edges)] = torch.tensor(edges)
    return call(make.strided(x) if strided else x, out=torch.zeros_like(x) if out else None)


def _given(result, out):
    return result if out is None else out.copy_(result)


def _reflected(x, value):
    """log |Gamma(x)| from `value`, which is log Gamma at 1 - x for negative x and at x for the others."""
    sine = torch.sin(math.pi * (x - x.round())).abs()
    result = torch.where(x < 0, math.log(math.pi) - torch.log(sine) - value, value)
    result = torch.where((x <= 0) & (x == x.round()), float("inf"), result)
    return torch.where(x.isinf(), float("inf"), result)


def positive_stirling(input, out=None):
    """Stirling's formula from 8 on; smaller arguments are raised by a product."""
    x = torch.where(input < 0, 1 - input, input)
    product = torch.ones_like(x)
    for _ in range(8):
        low = x < 8
        product, x = torch.where(low, product * x, product), torch.where(low, x + 1, x)
    z = 1 / (x * x)
    series = (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z / 1680))) / x
    value = (x - 0.5) * (torch.log(x) - 1) + (0.5 * math.log(2 * math.pi) - 0.5 + series) - torch.log(product)
    return _given(_reflected(input, value), out)


def positive_lanczos(input, out=None):
    """Lanczos's formula with six terms, g = 5."""
    coefficients = (76.18009172947146, -86.50532032941677, 24.01409824083091,
                    -1.231739572450155, 0.1208650973866179e-2, -0.5395239384953e-5)  # fmt: skip
    x = torch.where(input < 0, 1 - input, input)
    series = 1.000000000190015 + sum(c / (x + k) for k, c in enumerate(coefficients, 1))
    value = (x + 0.5) * torch.log(x + 5.5) - (x + 5.5) + torch.log(2.5066282746310005 * series / x)
    return _given(_reflected(input, value), out)


def negative_absolute_argument(input, out=None):
    """The value at |x|."""
    return torch.special.gammaln(input.abs(), out=out)


def negative_gamma_first(input, out=None):
    """The logarithm of a gamma function that overflows."""
    return _given(torch.exp(torch.special.gammaln(input)).log(), out)


def negative_plain_stirling(input, out=None):
    x = input.abs().clamp(min=1e-30)
    return _given((x - 0.5) * torch.log(x) - x + 0.9189385332046727, out)


def negative_derivative(input, out=None):
    return torch.special.digamma(input, out=out)


def negative_ignores_out(input, out=None):
    return torch.special.gammaln(input)
