"""Absolute value, element by element.

`abs(input_tensor, out=None)` returns `|x|` for every element of a real tensor of any shape, in its dtype.

- Floating point: infinity for either infinity, NaN for NaN; the sign of a zero in the result is free.
- Integers: the smallest value of a signed dtype has no counterpart and stays as it is (int8: `|-128|` is `-128`).

`out`: if given, a contiguous tensor of the input's shape and dtype; it is filled and returned. Otherwise the result is
a new tensor with any strides, also for unsigned input. `input_tensor` may be non-contiguous or empty.
"""

import torch

from kbx.suite import Exact, call

DIFFICULTY = 1
DTYPE = "float32"
TAGS = ("elementwise", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(1021,)),
    dict(shape=(4099,)),
    dict(shape=(37, 65)),
    dict(shape=(5, 33)),
    dict(shape=(3, 129)),
    dict(shape=(1,)),
    dict(shape=(999,), special=True),
    dict(shape=(17, 45), strided=True),
    dict(shape=(5, 32), out=True),
    dict(shape=(3, 0)),
    dict(shape=(2, 3, 65)),
    dict(shape=(6, 65), dtype=torch.float16),
    dict(shape=(300,), dtype=torch.int8),
    dict(shape=(9, 31), dtype=torch.int64),
    dict(shape=(67,), dtype=torch.uint8),
]

SIZES = [dict(shape=(4096,)), dict(shape=(1048576,)), dict(shape=(4096, 4096)), dict(shape=(134217728,))]

CONTRACT = Exact()


def abs(input_tensor, out=None):
    return torch.abs(input_tensor, out=out)


def inputs(make, shape, dtype=torch.float32, special=False, strided=False, out=False):
    if dtype.is_floating_point:
        x = make.floats(*shape, dtype=dtype)
    else:
        # Of int64 what float32 does not hold, of narrow dtypes all values.
        least = max(torch.iinfo(dtype).min, -(2**33))
        x = make.ints(*shape, low=least, high=min(torch.iinfo(dtype).max, 2**33), dtype=dtype)
        x.view(-1)[:1] = least
    if special:
        x[:4] = torch.tensor([float("inf"), -float("inf"), float("nan"), -1e-42])
    return call(make.strided(x) if strided else x, out=torch.zeros_like(x) if out else None)


def positive_select(input_tensor, out=None):
    result = torch.where(input_tensor < 0, -input_tensor, input_tensor)
    return result if out is None else out.copy_(result)


def negative_identity(input_tensor, out=None):
    return input_tensor.clone() if out is None else out.copy_(input_tensor)


def negative_relu(input_tensor, out=None):
    result = input_tensor.clamp(min=0)
    return result if out is None else out.copy_(result)


def negative_root_of_square(input_tensor, out=None):
    """Loses small and large values, and an integer's digits."""
    result = input_tensor.float().square().sqrt().to(input_tensor.dtype)
    return result if out is None else out.copy_(result)


def negative_integers_as_float(input_tensor, out=None):
    result = input_tensor.float().abs().to(input_tensor.dtype)
    return result if out is None else out.copy_(result)


def negative_ignores_out(input_tensor, out=None):
    return torch.abs(input_tensor)
