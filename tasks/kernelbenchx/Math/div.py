"""Quotient of two tensors, or of a tensor and a number, rounded to an integer if asked for.

`div(input, other, *, rounding_mode=None, out=None)` divides `input` by `other`, element by element. `rounding_mode` and
`out` are passed by name.

- `input`: a floating-point or integer tensor. `other`: the same, or a Python number. Tensors broadcast by PyTorch's
  rules.
- `rounding_mode=None`: the quotient. Of two integer dtypes it is float32 (both sides converted to float32), otherwise
  the common dtype by PyTorch's promotion.
- `rounding_mode="trunc"`: the quotient rounded towards zero, `"floor"`: towards minus infinity, in the common dtype.
  Integers are divided exactly, whatever their size. Of floating-point numbers the exact quotient counts, and none lies
  within a relative 1e-5 of an integer unless it is one: then that integer is the result, so the quotient must be
  accurate (`x * (1 / y)` is not).
- Floating-point division by zero: `x / 0.0` is `inf` for positive `x`, `-inf` for negative, NaN for 0 and NaN;
  `x / -0.0` has the opposite sign. That holds in all three modes. Integers are never divided by zero where a rounding
  mode is given.
- `out`: if given, a contiguous tensor of the result's shape and dtype; it is filled and returned.

Dividends are finite or NaN. The sign of a zero in the result is free. Arguments may be non-contiguous, expanded or
empty; without `out` the result is a new tensor with any strides.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("elementwise", "broadcast", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(4099,), other=(4099,)),
    dict(shape=(1,), other=(1,)),
    dict(shape=(), other=()),
    dict(shape=(33, 65), other=(33, 65)),
    dict(shape=(37, 45), other=(45,)),
    dict(shape=(31,), other=3.0),
    dict(shape=(17, 45), other=(17, 45), strided=True),
    dict(shape=(17, 43), other=(43,), rounding_mode="floor"),
    dict(shape=(7, 33), other=(7, 33), rounding_mode="trunc", whole=True),
    dict(shape=(129,), other=-2.5, rounding_mode="floor"),
    dict(shape=(31, 7), other=0.75),
    dict(shape=(3, 67), other=(67,), out=True),
    dict(shape=(129,), other=(129,), dtype=torch.float16, other_dtype=torch.float16),
    dict(shape=(9, 31), other=(31,), dtype=torch.int32, other_dtype=torch.int32),
    dict(shape=(65,), other=(65,), dtype=torch.int64, other_dtype=torch.int32, rounding_mode="floor"),
    dict(shape=(5, 33), other=(5, 33), dtype=torch.int64, other_dtype=torch.int64, rounding_mode="trunc"),
    dict(shape=(77,), other=(77,), special=True),
    dict(shape=(77,), other=(77,), special=True, rounding_mode="trunc"),
    dict(shape=(77,), other=(77,), special=True, rounding_mode="floor"),
    dict(shape=(7, 1, 33), other=(5, 1)),
    dict(shape=(0, 9), other=(9,)),
]

SIZES = [
    dict(shape=(4096,), other=(4096,)),
    dict(shape=(1048576,), other=(1048576,)),
    dict(shape=(8192, 4096), other=(4096,)),
    dict(shape=(100663296,), other=(100663296,)),
]

CONTRACT = Close()


def div(input, other, rounding_mode=None, out=None):
    return torch.div(input, other, rounding_mode=rounding_mode, out=out)


def inputs(make, shape, other, rounding_mode=None, dtype=torch.float32, other_dtype=torch.float32, **form):
    """With a rounding mode, floats are multiples of 1/8: their quotients are integers or far from one. `whole` adds such
    as a rounded reciprocal misses, `special` division by zero."""
    x = _numbers(make, shape, dtype, rounding_mode)
    y = other
    if isinstance(other, tuple):
        y = _numbers(make, other, other_dtype, rounding_mode)
        y = y + torch.copysign(torch.full_like(y, 0.125), y) if y.is_floating_point() else _divisor(y)
    return _formed(make, x, y, rounding_mode, **form)


def _numbers(make, shape, dtype, rounding_mode):
    """Integers beyond what float32 holds exactly."""
    if not dtype.is_floating_point:
        return make.ints(*shape, low=-(10**9), high=10**9, dtype=dtype)
    x = make.floats(*shape, dtype=dtype)
    eighths = (8 * x).round() / 8
    return torch.where(eighths == 0, 0.125, eighths) if rounding_mode else x


def _divisor(integers):
    small = integers % 61 - 30
    return torch.where(small == 0, 1, small)


def _formed(make, x, y, rounding_mode, whole=False, special=False, strided=False, out=False):
    if whole:
        x.view(-1)[:6] = torch.tensor([7.0, 6.0, -6.0, 3.5, -3.5, -41.0])
        y.view(-1)[:6] = torch.tensor([7.0, 3.0, 3.0, -0.5, 0.5, 41.0])
    if special:
        x[:7] = torch.tensor([1.5, -1.5, 0.0, 1.5, -1.5, 0.0, float("nan")])
        y[:7] = torch.tensor([0.0, 0.0, 0.0, -0.0, -0.0, -0.0, 2.0])
    if strided:
        x, y = make.strided(x), make.strided(y)
    return call(x, y, rounding_mode=rounding_mode, out=torch.zeros_like(torch.div(x, y)) if out else None)


def positive_double(input, other, rounding_mode=None, out=None):
    """Floats divided in double precision; integers with the remainder's help."""
    dtype = torch.div(input, other, rounding_mode=rounding_mode).dtype
    y = torch.as_tensor(other, device=input.device)
    if dtype.is_floating_point:
        result = input.double() / y.double()
        result = {None: torch.clone, "trunc": torch.trunc, "floor": torch.floor}[rounding_mode](result)
    else:
        rest = torch.fmod(input, y) if rounding_mode == "trunc" else torch.remainder(input, y)
        result = torch.div(input - rest, y, rounding_mode="trunc")
    return result.to(dtype) if out is None else out.copy_(result)


def negative_ignores_mode(input, other, rounding_mode=None, out=None):
    result = torch.div(input, other).to(torch.div(input, other, rounding_mode=rounding_mode).dtype)
    return result if out is None else out.copy_(result)


def negative_floor_truncates(input, other, rounding_mode=None, out=None):
    """The division of C, for negative quotients too."""
    return torch.div(input, other, rounding_mode=rounding_mode and "trunc", out=out)


def negative_trunc_floors(input, other, rounding_mode=None, out=None):
    return torch.div(input, other, rounding_mode=rounding_mode and "floor", out=out)


def negative_reciprocal(input, other, rounding_mode=None, out=None):
    """Multiplies by 1 / y: 41 times the rounded 1/41 is below 1."""
    result = torch.div(input, other, rounding_mode=rounding_mode)
    if rounding_mode and result.is_floating_point():
        product = input * (1 / torch.as_tensor(other, device=input.device))
        product = torch.floor(product) if rounding_mode == "floor" else torch.trunc(product)
        result = torch.where(result.isfinite(), product, result)
    return result if out is None else out.copy_(result)


def negative_integers_through_float32(input, other, rounding_mode=None, out=None):
    result = torch.div(input, other, rounding_mode=rounding_mode)
    if not result.is_floating_point():
        y = torch.as_tensor(other, device=input.device)
        result = torch.div(input.float(), y.float(), rounding_mode=rounding_mode).to(result.dtype)
    return result if out is None else out.copy_(result)


def negative_guarded(input, other, rounding_mode=None, out=None):
    """Keeps away from zero by a small constant."""
    y = torch.as_tensor(other, device=input.device)
    y = torch.where(y == 0, 1e-8, y) if y.is_floating_point() else y
    return torch.div(input, y, rounding_mode=rounding_mode, out=out)


def negative_ignores_out(input, other, rounding_mode=None, out=None):
    return torch.div(input, other, rounding_mode=rounding_mode)
