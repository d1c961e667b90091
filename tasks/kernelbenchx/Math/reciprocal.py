"""Reciprocal, element by element.

`reciprocal(input, out=None)` computes `1 / x` for every element `x` of a tensor of any shape.

- A floating-point `input` gives its own dtype; half precision is computed in float32 and rounded once. An integer
  `input` gives float32.
- `1 / 0.0 = inf`, `1 / -0.0 = -inf`, infinities give 0, NaN stays NaN. An integer 0 gives `inf`.
- `out`: if given, a contiguous tensor of the result's shape and dtype; it is filled and returned. Otherwise the
  result is a new tensor with any strides.

`input` may be non-contiguous, empty or without dimensions.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("elementwise", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(4099,)),
    dict(shape=(37, 65)),
    dict(shape=(1021,)),
    dict(shape=(7, 129)),
    dict(shape=(255,), zeros=True),
    dict(shape=()),
    dict(shape=(999,), special=True),
    dict(shape=(17, 45), strided=True),
    dict(shape=(5, 33), out=True),
    dict(shape=(3, 0)),
    dict(shape=(2, 3, 65)),
    dict(shape=(6, 65), dtype=torch.float64),
    dict(shape=(129,), dtype=torch.int32),
    dict(shape=(11, 13), dtype=torch.int64, out=True),
    dict(shape=(7, 67), dtype=torch.float16),
]

SIZES = [dict(shape=(4096,)), dict(shape=(1024, 1024)), dict(shape=(4096, 4096)), dict(shape=(134217728,))]

CONTRACT = Close()


def reciprocal(input, out=None):
    return torch.reciprocal(input, out=out)


def inputs(make, shape, zeros=False, special=False, strided=False, out=False, dtype=None):
    """Both signs, at least 1/8 from zero, so that no result dwarfs the others; `zeros` and `special` add these and the like."""
    integer = dtype in (torch.int32, torch.int64)
    if integer:
        x = make.ints(*shape, low=-20, high=21, dtype=dtype)
    else:
        x = torch.where(make.bools(*shape), 1, -1) * make.floats(*shape, dtype=dtype, low=0.125)
    if zeros:
        x[:2] = torch.tensor([0.0, -0.0])
    if zeros:
        x[:2] = torch.tensor([0.0, -0.0])
    if zeros:
        x[:2] = torch.tensor([0.0, -0.0])
    if special:
        x[:5] = torch.tensor([float("nan"), float("inf"), float("-inf"), 0.0, -0.0])
    target = make.plain(*shape, dtype=torch.float32 if integer else dtype) if out else None
    return call(make.strided(x) if strided else x, out=target)


def _given(result, out):
    return result if out is None else out.copy_(result)


def _wide(x):
    return x.to(torch.promote_types(x.dtype, torch.float32))


def _narrow(result, input):
    return result.to(input.dtype) if input.dtype.is_floating_point else result


def positive_power(input, out=None):
    return _given(_narrow(_wide(input).pow(-1), input), out)


def positive_newton(input, out=None):
    """An estimate of 16 bits and two Newton steps."""
    x = _wide(input)
    y = (1 / x) * (1 + 2.0**-16)
    ordinary = y.isfinite() & (y != 0)
    for _ in range(2):
        y = torch.where(ordinary, y * (2 - x * y), y)
    return _given(_narrow(y, input), out)


def negative_estimate(input, out=None):
    """The estimate alone."""
    return _given(_narrow((1 / _wide(input)) * (1 + 2.0**-16), input), out)


def negative_epsilon(input, out=None):
    """Keeps the divisor from zero, which nobody asked for."""
    return _given(_narrow(1 / (_wide(input) + 1e-6), input), out)


def negative_integer_division(input, out=None):
    """Numpy's reciprocal of integers: 0 for all but ±1."""
    result = torch.reciprocal(input)
    return _given(result if input.dtype.is_floating_point else result.trunc(), out)


def negative_dtype_of_input(input, out=None):
    result = torch.reciprocal(input).nan_to_num(0, 0, 0) if not input.dtype.is_floating_point else 1 / input
    return _given(result.to(input.dtype), out)


def negative_rsqrt(input, out=None):
    return torch.rsqrt(input, out=out)


def negative_ignores_out(input, out=None):
    return torch.reciprocal(input)
