"""Polygamma function, the n-th derivative of the digamma function, element by element.

`polygamma(n, input, *, out=None)` returns, for every element `x` of a float32 tensor of any shape and one order `n`, a
Python int not less than 0,

    psi(x) = Gamma'(x) / Gamma(x)                                               for n = 0,
    (-1)^(n + 1) · n! · sum over k ≥ 0 of 1 / (x + k)^(n + 1)                   for n ≥ 1.

For odd `n` all values are positive, also for negative `x`; for even `n ≥ 2` they are negative where `x` is positive. At
0 the result is `inf` for odd `n` and `-inf` for even `n` (the sign of the zero only counts for `n = 0`, and `x = -0.0`
does not occur there). `x = -1, -2, …` occurs for `n ≥ 2` only, with the same values as at 0. NaN gives NaN; infinities
do not occur.

`out`: if given, a contiguous float32 tensor of the input's shape; it is filled and returned. Otherwise the result is a
new tensor with any strides. `input` may be non-contiguous or empty.
"""

import math

import torch

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("elementwise", "special-function", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(n=1, shape=(4099,), low=0.5),
    dict(n=2, shape=(1021,), low=0.7, high=3.0),
    dict(n=3, shape=(257,), low=2.0, high=9.0),
    dict(n=4, shape=(301,), low=0.5, high=2.0),
    dict(n=3, shape=(77,), low=10.0, high=18.0),
    dict(n=1, shape=(1,), low=0.5),
    dict(n=2, shape=(17, 45), low=0.7, high=3.0),
    dict(n=2, shape=(45,), low=0.7, high=3.0, strided=True),
    dict(n=3, shape=(165,), low=2.0, high=9.0, out=True),
    dict(n=0, shape=(257,), low=0.3),
    dict(n=7, shape=(101,), low=3.0, high=5.0),
    dict(n=3, shape=(78,), low=20.0, high=100.0),
    dict(n=2, shape=(279,), low=-8.0, high=-0.2),
    dict(n=1, shape=(53,), low=-3.0, high=-0.2),
    dict(n=3, shape=(31,), low=0.5, special=True),
    dict(n=4, shape=(31,), low=0.5, special=True),
    dict(n=2, shape=(0,)),
]

SIZES = [
    dict(shape=(4096,), n=1, low=0.5),
    dict(shape=(1048576,), n=2, low=0.5, high=10.0),
    dict(shape=(16777216,), n=3, low=0.5, high=10.0),
    dict(shape=(134217728,), n=1, low=0.5, high=10.0),
]


def magnitude(n, input, *, out=None):
    """Powers and factorial err more the larger n is; for negative x, terms of both signs cancel."""
    nearest = torch.minimum((input - input.round()).abs(), input.abs())
    negative = torch.where(input < 0, math.factorial(n) * nearest.clamp(min=0.05) ** -(n + 1.0), 0.0)
    return torch.special.polygamma(n, input).abs().nan_to_num(0, 0, 0) * (1 + n) + negative + (n == 0)


CONTRACT = Close(scale=magnitude)


def polygamma(n, input, *, out=None):
    return torch.special.polygamma(n, input, out=out)


def inputs(make, shape, n, low=None, high=None, special=False, strided=False, out=False):
    """Ranges are narrow, as next to large values no others would count; poles are a tenth away."""
    x = make.floats(*shape, low=low, high=high)
    x = torch.where(x < 0, x.floor() + 0.1 + 0.8 * (x - x.floor()), x.clamp(min=low if low and low > 0 else 0.1))
    if special:
        x[:5] = torch.tensor([0.0, -1.0, -2.0, float("nan"), 1.0])
    return call(n, make.strided(x) if strided else x, out=torch.zeros_like(x) if out else None)


def _given(result, out):
    return result if out is None else out.copy_(result)


BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66)


def _tail(n, x):
    """The polygamma function by its asymptotic expansion, for x from about 8 on."""
    if n == 0:
        return torch.log(x) - 0.5 / x - sum(b / (2 * j * x ** (2 * j)) for j, b in enumerate(BERNOULLI, 1))
    total = math.factorial(n - 1) / x**n + math.factorial(n) / (2 * x ** (n + 1))
    for j, b in enumerate(BERNOULLI, 1):
        total = total + b * (math.factorial(2 * j + n - 1) / math.factorial(2 * j)) / x ** (2 * j + n)
    return (-1) ** (n + 1) * total


def positive_recurrence(n, input, *, out=None):
    """Terms 1 / (x + k)^(n + 1) until x is at least 12, then the expansion."""
    x, total, sign = input, torch.zeros_like(input), (-1) ** (n + 1) * math.factorial(n)
    for _ in range(24):
        low = x < 12
        total, x = torch.where(low, total + sign / x ** (n + 1), total), torch.where(low, x + 1, x)
    result = total + _tail(n, x)
    if n == 0:
        return _given(result, out)
    pole = (input <= 0) & (input == input.round())
    return _given(torch.where(pole, float("inf") * sign, result), out)


def negative_one_order_more(n, input, *, out=None):
    return torch.special.polygamma(n + 1, input, out=out)


def negative_wrong_sign(n, input, *, out=None):
    """The sum without its sign (-1)^(n + 1)."""
    return _given(torch.special.polygamma(n, input).abs(), out)


def negative_no_factorial(n, input, *, out=None):
    return _given(torch.special.polygamma(n, input) / math.factorial(n), out)


def negative_eight_terms(n, input, *, out=None):
    """The sum cut off."""
    if n == 0:
        return torch.special.polygamma(n, input, out=out)
    total = sum((input + k) ** -(n + 1.0) for k in range(8))
    return _given((-1) ** (n + 1) * math.factorial(n) * total, out)


def negative_no_recurrence(n, input, *, out=None):
    return _given(_tail(n, input), out)


def negative_ignores_out(n, input, *, out=None):
    return torch.special.polygamma(n, input)
