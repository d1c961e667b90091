"""Whether the sign bit is set, element by element.

`signbit(input, out=None)` gives a bool tensor of `input`'s shape: true where the element's sign bit is set.

- Floating-point numbers: true for negative numbers, `-inf` and `-0.0`, false for positive ones, `inf` and `0.0`. NaN
  does not occur.
- Integers: true where the element is negative; for uint8 false everywhere.
- `out`: if given, a contiguous bool tensor of `input`'s shape; it is filled and returned. Otherwise the result is a
  new bool tensor with any strides.

`input` may be non-contiguous, empty or without dimensions.
"""

import torch

from kbx.suite import Exact, call

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
    dict(shape=(6, 65), dtype=torch.float64, zeros=True),
    dict(shape=(7, 67), dtype=torch.float16, zeros=True),
    dict(shape=(13, 11), dtype=torch.bfloat16, zeros=True),
    dict(shape=(129,), dtype=torch.int64),
    dict(shape=(65,), dtype=torch.int8),
    dict(shape=(33,), dtype=torch.uint8),
]

SIZES = [dict(shape=(4096,)), dict(shape=(1024, 1024)), dict(shape=(8192, 8192)), dict(shape=(201326592,))]

CONTRACT = Exact()


def signbit(input: torch.Tensor, out: torch.Tensor = None) -> torch.Tensor:
    return torch.signbit(input, out=out)


def inputs(make, shape, zeros=False, special=False, strided=False, out=False, dtype=None):
    """Integers over the dtype's whole range, or what float32 does not hold; `zeros` begins with both, `special` with the infinities too."""
    if dtype is not None and not dtype.is_floating_point:
        info = torch.iinfo(dtype)
        x = make.ints(*shape, low=max(info.min, -(2**33)), high=min(info.max, 2**33), dtype=dtype)
    else:
        x = make.floats(*shape, dtype=dtype)
    if zeros:
        x.view(-1)[:2] = torch.tensor([-0.0, 0.0])
    if zeros:
        x.view(-1)[:2] = torch.tensor([-0.0, 0.0])
    if zeros:
        x.view(-1)[:2] = torch.tensor([-0.0, 0.0])
    if special:
        x.view(-1)[:4] = torch.tensor([float("-inf"), float("inf"), -0.0, 0.0])
    return call(make.strided(x) if strided else x, out=make.bools(*shape) if out else None)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_copysign(input, out=None):
    """The sign carried over to a number that shows it."""
    x = input if input.dtype.is_floating_point else input.sign().float()
    return _given(torch.copysign(torch.ones_like(x), x) < 0, out)


def negative_less_than_zero(input, out=None):
    """Misses -0.0."""
    return _given(input < 0, out)


def negative_not_positive(input, out=None):
    """Takes every zero for negative."""
    return _given(input <= 0, out)


def negative_inverted(input, out=None):
    return _given(~torch.signbit(input), out)


def negative_top_bit(input, out=None):
    """Reads the top bit of unsigned bytes as well."""
    if input.dtype != torch.uint8:
        return torch.signbit(input, out=out)
    return _given(input > 127, out)


def negative_sign(input, out=None):
    """-1, 0, 1 in the input's dtype."""
    return torch.sign(input)


def negative_ignores_out(input, out=None):
    return torch.signbit(input)
