"""Natural logarithm, element by element.

`log(input, out=None)` computes the logarithm to base e of every element of a floating-point tensor of any shape.

`log(0)` and `log(-0.0)` are `-inf`, `log(inf)` is `inf`, and the logarithm of a negative number, `-inf` or NaN is
NaN. Half precision is computed in float32 and rounded once.

`out`: if given, a contiguous tensor of `input`'s shape and dtype; it is filled and returned. Otherwise the result is
a new tensor of `input`'s shape and dtype with any strides. `input` may be non-contiguous, empty or without
dimensions.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 1
DTYPE = "float32"
TAGS = ("elementwise", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(4099,)),
    dict(shape=(37, 65)),
    dict(shape=(1021,)),
    dict(shape=(7, 129)),
    dict(shape=(255,), edges=True),
    dict(shape=()),
    dict(shape=(999,), special=True),
    dict(shape=(17, 45), strided=True),
    dict(shape=(5, 33), out=True),
    dict(shape=(3, 0)),
    dict(shape=(2, 3, 65)),
    dict(shape=(6, 65), dtype=torch.float64),
    dict(shape=(7, 67), dtype=torch.float16),
]

SIZES = [dict(shape=(4096,)), dict(shape=(1024, 1024)), dict(shape=(4096, 4096)), dict(shape=(134217728,))]

CONTRACT = Close()


def log(input: torch.Tensor, out: torch.Tensor = None) -> torch.Tensor:
    return torch.log(input, out=out)


def inputs(make, shape, edges=False, special=False, strided=False, out=False, dtype=None):
    """Numbers from 0 up; `edges` adds what has no logarithm, `special` infinity and NaN as well."""
    x = make.floats(*shape, dtype=dtype, low=0.0)
    if edges:
        x[:4] = torch.tensor([-0.0, -1.0, -3.0, 29.0])
    if edges:
        x[:4] = torch.tensor([-0.0, -1.0, -3.0, 29.0])
    if edges:
        x[:4] = torch.tensor([-0.0, -1.0, -3.0, 29.0])
    if special:
        x[:7] = torch.tensor([float("nan"), float("inf"), float("-inf"), -0.0, -1.0, -1e-30, 1e30])
    return call(make.strided(x) if strided else x, out=make.plain(*shape, dtype=dtype) if out else None)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_base_two(input, out=None):
    x = input.to(torch.promote_types(input.dtype, torch.float32))
    return _given((torch.log2(x) * 0.6931471805599453).to(input.dtype), out)


def negative_base_two(input, out=None):
    return torch.log2(input, out=out)


def negative_epsilon(input, out=None):
    """Keeps away from zero, which nobody asked for."""
    return _given(torch.log(input + 1e-6), out)


def negative_clamped(input, out=None):
    return _given(torch.log(input.clamp(min=1e-12)), out)


def negative_absolute(input, out=None):
    return _given(torch.log(input.abs()), out)


def negative_ignores_out(input, out=None):
    return torch.log(input)
