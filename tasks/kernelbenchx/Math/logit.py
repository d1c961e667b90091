"""Logarithm of the odds, element by element: the inverse of the sigmoid.

`logit(input, eps=None, out=None)` computes `ln(z / (1 - z))`, where for each element `x` of a floating-point tensor

- `eps=None`: `z = x`. Then `logit(0) = -inf`, `logit(1) = inf`, and numbers below 0 or above 1 give NaN;
- `eps` a Python number from 0 to 0.5: `z` is `x` clamped to `[eps, 1 - eps]`, both bounds in `input`'s dtype. With
  `eps = 0` numbers outside `[0, 1]` give infinities.

NaN stays NaN either way. Errors near `z = 1/2` are counted relative to 1. `out`: if given, a contiguous tensor of
`input`'s shape and dtype; it is filled and returned. Otherwise the result is a new tensor of `input`'s shape and dtype
with any strides. `input` may be non-contiguous, empty or without dimensions.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("elementwise", "memory-bound")

EPS = 1e-6
# Powers of two, so that 1 - eps is no rounded number.
FINE, COARSE = 2.0**-20, 0.125

CASES = [
    dict(shape=(4099,)),
    dict(shape=(1021,), eps=EPS, high=0.9999),
    dict(shape=(257,), eps=EPS, out=True),
    dict(shape=(129,), out=True),
    dict(shape=(2053,)),
    dict(shape=()),
    dict(shape=(1000,), eps=FINE, low=-0.5, high=1.5),
    dict(shape=(33,), eps=COARSE),
    dict(shape=(999,), special=True),
    dict(shape=(998,), special=True, eps=EPS),
    dict(shape=(500,), eps=0.0),
    dict(shape=(45,), strided=True),
    dict(shape=(5, 33)),
    dict(shape=(0,)),
    dict(shape=(390,), dtype=torch.float64),
]

SIZES = [
    dict(shape=(4096,)),
    dict(shape=(1048576,)),
    dict(shape=(16777216,)),
    dict(shape=(134217728,)),
]

# Near 1/2 a rounding of the odds is an error relative to 1.
CONTRACT = Close(scale=1.0)


def logit(input: torch.Tensor, eps: float = None, out: torch.Tensor = None) -> torch.Tensor:
    return torch.special.logit(input, eps, out=out)


def inputs(make, shape, eps=None, low=0.0, high=1.0, special=False, strided=False, out=False, dtype=None):
    """Probabilities, ends included. Below `high` the rounding of 1 - eps does not count."""
    x = make.floats(*shape, dtype=dtype, low=low, high=high)
    if special:
        x[:8] = torch.tensor([float("nan"), float("inf"), float("-inf"), 0.0, -0.1, 1.1, 0.5, 1e-30])
    return call(make.strided(x) if strided else x, eps=eps, out=make.plain(*shape, dtype=dtype) if out else None)


def _given(result, out):
    return result if out is None else out.copy_(result)


def _clamped(x, eps):
    return x if eps is None else x.clamp(eps, 1 - eps)


def positive_two_logarithms(input, eps=None, out=None):
    z = _clamped(input, eps)
    return _given(torch.log(z) - torch.log1p(-z), out)


def positive_base_two(input, eps=None, out=None):
    z = _clamped(input, eps)
    return _given(-torch.log2((1 - z) / z) * 0.6931471805599453, out)


def negative_ignores_eps(input, eps=None, out=None):
    return torch.special.logit(input, out=out)


def negative_always_clamped(input, eps=None, out=None):
    return torch.special.logit(input, 1e-6 if eps is None else eps, out=out)


def negative_clamped_below_only(input, eps=None, out=None):
    return torch.special.logit(input if eps is None else input.clamp(min=eps), out=out)


def negative_sigmoid(input, eps=None, out=None):
    return torch.sigmoid(_clamped(input, eps), out=out)


def negative_eps_added(input, eps=None, out=None):
    """eps against division by zero instead of a clamp."""
    e = eps or 0
    return _given(torch.log((input + e) / (1 - input + e)), out)


def negative_ignores_out(input, eps=None, out=None):
    return torch.special.logit(input, eps)
