"""Modified Bessel function of the first kind of order 0, element by element.

`i0(input_tensor, out=None)` returns

    I0(x) = sum over k ≥ 0 of (x² / 4)^k / (k!)²

for every element of a float32 tensor of any shape. `I0` is even, 1 at 0 and grows like exp(|x|) / sqrt(2 pi |x|). `|x|`
is at most 80, where the result is still finite; NaN gives NaN.

`out`: if given, a contiguous float32 tensor of the input's shape; it is filled and returned. Otherwise the result is a
new tensor with any strides. `input_tensor` may be non-contiguous or empty.
"""

import math

import torch

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("elementwise", "special-function", "memory-bound")

CASES = [
    dict(shape=(4099,)),
    dict(shape=(37, 65)),
    dict(shape=(257,), low=5.0, limit=10.0),
    dict(shape=(1021,), limit=3.0),
    dict(shape=(7, 129), limit=10.0),
    dict(shape=(1,)),
    dict(shape=(17, 45), limit=3.0, strided=True),
    dict(shape=(5, 33), limit=10.0, out=True),
    dict(shape=(3, 0)),
    dict(shape=(2, 3, 65)),
    dict(shape=(77,), special=True),
    dict(shape=(300,), low=20.0, limit=80.0),
]

SIZES = [
    dict(shape=(4096,)),
    dict(shape=(1048576,)),
    dict(shape=(4096, 4096), limit=12.0),
    dict(shape=(134217728,), limit=12.0),
]


def magnitude(input_tensor, out=None):
    """A rounding of x is a relative error of exp(x)."""
    return torch.special.i0(input_tensor) * (1 + input_tensor.abs())


CONTRACT = Close(scale=magnitude)


def i0(input_tensor, out=None):
    return torch.special.i0(input_tensor, out=out)


def inputs(make, shape, limit=8.0, low=None, special=False, strided=False, out=False):
    """`low` and `limit` bound a case: next to the largest value of a wide range no other one would count."""
    x = make.floats(*shape, low=-limit if low is None else low, high=limit)
    if special:
        x[:4] = torch.tensor([float("nan"), 0.0, -0.0, 1e-20])
    return call(make.strided(x) if strided else x, out=torch.zeros_like(x) if out else None)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_power_series(input_tensor, out=None):
    """The definition: all terms are positive."""
    z = input_tensor.square() / 4
    term = total = torch.where(z.isnan(), z, 1.0)
    for k in range(1, 160):
        term = term * z / (k * k)
        total = total + term
    return _given(total, out)


def positive_integral(input_tensor, out=None):
    """Mean of exp(x cos t) over a period."""
    total = sum(torch.exp(input_tensor * math.cos(math.pi * (k + 0.5) / 80)) for k in range(80))
    return _given(total / 80, out)


def negative_asymptotic(input_tensor, out=None):
    x = input_tensor.abs()
    return _given(torch.exp(x) / torch.sqrt(2 * math.pi * x), out)


def negative_short_series(input_tensor, out=None):
    z = input_tensor.square() / 4
    return _given(1 + z * (1 + z / 4 * (1 + z / 9 * (1 + z / 16 * (1 + z / 25 * (1 + z / 36))))), out)


def negative_scaled(input_tensor, out=None):
    """exp(-|x|) I0(x)."""
    return torch.special.i0e(input_tensor, out=out)


def negative_order_one(input_tensor, out=None):
    return torch.special.i1(input_tensor, out=out)


def negative_for_positive_only(input_tensor, out=None):
    """Scales by exp(x) instead of exp(|x|)."""
    return _given(torch.special.i0e(input_tensor) * torch.exp(input_tensor), out)


def negative_ignores_out(input_tensor, out=None):
    return torch.special.i0(input_tensor)
