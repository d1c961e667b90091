"""Largest integer that is not larger, element by element.

`floor(input, out=None)` returns, for every element of a real tensor of any shape, the largest integer that is less than
or equal to it, in the tensor's dtype. Infinities and NaN stay what they are, and so do values that are integers
already, as all large ones are; the sign of a zero in the result is free. Integer tensors are copied.

`out`: if given, a contiguous tensor of the input's shape and dtype; it is filled and returned. Otherwise the result is
a new tensor with any strides, also for integers. `input` may be non-contiguous or empty.
"""

import torch

from kbx.suite import Exact, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("elementwise", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(4099,)),
    dict(shape=(37, 65), factor=10.0),
    dict(shape=(257,), whole=True),
    dict(shape=(1021,), factor=10.0),
    dict(shape=(5, 13), dtype=torch.int64, limit=40),
    dict(shape=(1,)),
    dict(shape=(999,), special=True),
    dict(shape=(17, 45), strided=True),
    dict(shape=(5, 33), factor=10.0, out=True),
    dict(shape=(3, 0)),
    dict(shape=(2, 3, 65)),
    dict(shape=(6, 65), dtype=torch.float16, factor=5.0),
    dict(shape=(9, 31), factor=1e12),
    dict(shape=(67,), dtype=torch.int32, limit=40),
    dict(shape=(5, 11), dtype=torch.int64, limit=2**62),
]

SIZES = [dict(shape=(4096,)), dict(shape=(1048576,)), dict(shape=(4096, 4096)), dict(shape=(134217728,))]

CONTRACT = Exact()


def floor(input: torch.Tensor, out: torch.Tensor = None) -> torch.Tensor:
    return torch.floor(input, out=out)


def inputs(
    make, shape, dtype=torch.float32, factor=1.0, limit=None, whole=False, special=False, strided=False, out=False
):
    """`whole` makes every third element an integer, and some their neighbours; `limit` bounds integers."""
    if dtype.is_floating_point:
        x = make.floats(*shape, dtype=dtype) * factor
    else:
        x = make.ints(*shape, low=-limit, high=limit, dtype=dtype)
    if whole:
        x[::3] = x[::3].round()
        x[:2] = torch.tensor([-0.5, 0.99999994])
    if special:
        edges = [float("inf"), -float("inf"), float("nan"), -1e-30, 8388609.0, -4194303.5, -3e9]
        x[: len(edges)] = torch.tensor(edges)
    return call(make.strided(x) if strided else x, out=torch.zeros_like(x) if out else None)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_remainder(input, out=None):
    """The truncated value, one less where that is above."""
    cut = torch.trunc(input)
    return _given(torch.where(cut > input, cut - 1, cut), out)


def positive_negated_ceiling(input, out=None):
    return _given(-torch.ceil(-input), out)


def negative_truncated(input, out=None):
    return torch.trunc(input, out=out)


def negative_rounded(input, out=None):
    return torch.round(input, out=out)


def negative_below(input, out=None):
    """Goes below integers too."""
    return _given(torch.ceil(input) - 1, out)


def negative_through_int32(input, out=None):
    cut = input.double().nan_to_num(0).clamp(-(2.0**31), 2.0**31 - 1).floor().int()
    return _given(cut.to(input.dtype), out)


def negative_ignores_out(input, out=None):
    return torch.floor(input)
