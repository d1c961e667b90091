"""Natural logarithm followed by the hyperbolic tangent, element by element.

`fused_log_tanh(input, out=None)` computes `tanh(log(x))`, which is also `(x² - 1) / (x² + 1)`, for a float32 tensor.

Elements are positive or NaN, which gives NaN. `x = inf` and whatever is large gives 1: squares must not overflow to
NaN.

`out`: if given, a contiguous float32 tensor of `input`'s shape; it is filled and returned. Otherwise the result is a
new tensor of `input`'s shape with any strides. `input` may be non-contiguous or empty.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 1
DTYPE = "float32"
TAGS = ("elementwise", "memory-bound", "fusion")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(1023,)),
    dict(shape=(2053,), out=True),
    dict(shape=(131,)),
    dict(shape=(3,)),
    dict(shape=(4099,), out=True),
    dict(shape=(1,)),
    dict(shape=(603,), strided=True),
    dict(shape=(37, 61)),
    dict(shape=(2, 3, 65)),
    dict(shape=(67,), special=True),
    dict(shape=(603,), special=True, out=True),
    dict(shape=(0,)),
]

SIZES = [dict(shape=(4096,)), dict(shape=(1048576,)), dict(shape=(16777216,)), dict(shape=(134217728,))]

SPECIAL = (torch.inf, torch.nan, 1.0, 1e-37, 3e38, 1e20, 1e-20, 1 + 2**-23, 1 - 2**-24)

# The tangent made of exponentials, such as 2σ(2x) - 1, loses what is small against 1.
CONTRACT = Close(scale=1.0)


def fused_log_tanh(input, out=None):
    return torch.tanh(torch.log(input), out=out)


def inputs(make, shape, special=False, strided=False, out=False):
    x = make.floats(*shape, low=1e-6)
    if special:
        values = torch.tensor(SPECIAL, dtype=x.dtype, device=x.device)
        x.view(-1)[7 : 7 + len(SPECIAL)] = values
    return call(make.strided(x) if strided else x, out=make.plain(*shape) if out else None)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_ratio(input, out=None):
    """(x² - 1) / (x² + 1), with 1/x where x is large."""
    x = torch.where(input > 1, 1 / input, input)
    y = (x * x - 1) / (x * x + 1)
    return _given(torch.where(input > 1, -y, y), out)


def positive_logistic(input, out=None):
    return _given(2 * torch.sigmoid(2 * 0.6931471805599453 * torch.log2(input)) - 1, out)


def negative_log_of_tanh(input, out=None):
    return _given(torch.log(torch.tanh(input)), out)


def negative_squares_overflow(input, out=None):
    square = input * input
    return _given((square - 1) / (square + 1), out)


def negative_log1p(input, out=None):
    return _given(torch.tanh(torch.log1p(input)), out)


def negative_base_two(input, out=None):
    return _given(torch.tanh(torch.log2(input)), out)


def negative_nan_to_number(input, out=None):
    """A maximum that drops NaN."""
    return _given(torch.tanh(torch.log(torch.where(input > 1e-6, input, 1e-6))), out)


def negative_ignores_out(input, out=None):
    return torch.tanh(torch.log(input))
