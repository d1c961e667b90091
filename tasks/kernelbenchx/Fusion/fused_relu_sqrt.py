"""Rectified linear unit (ReLU), then the square root, element by element.

`fused_relu_sqrt(input, inplace=False, out=None)` returns `sqrt(max(x, 0))` of a float32 tensor: 0 for every negative
number, `-inf` included; `inf` gives `inf`, NaN gives NaN, and zeros of either sign give a zero whose sign is free. An
integer tensor is converted to float32 first, and the result is float32.

- `inplace=False`: `input` is left as it was.
- `inplace=True`: `input` (float32 then) is overwritten with the result, the square roots, through its own strides; it
  is returned, or a new tensor with the same values. `out` is not given then.
- `out`: if given, a contiguous float32 tensor of `input`'s shape that shares no memory with it; it is filled and
  returned. Otherwise the result is a new tensor of `input`'s shape with any strides.

`input` may be non-contiguous or empty.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("elementwise", "memory-bound", "in-place", "fusion")
MAGNITUDES = (-104, 120)
MUTATES = ("input",)

CASES = [
    dict(shape=(1023,)),
    dict(shape=(9, 31), out=True),
    dict(shape=(37, 61)),
    dict(shape=(4, 57), integers=38),
    dict(shape=(1031,), inplace=True),
    dict(shape=(1,)),
    dict(shape=(17, 45), strided=True),
    dict(shape=(5, 33), strided=True, inplace=True),
    dict(shape=(6, 19), integers=1000, out=True),
    dict(shape=(2, 3, 65)),
    dict(shape=(0, 7)),
]

SIZES = [dict(shape=(4096,)), dict(shape=(1048576,)), dict(shape=(4096, 4096)), dict(shape=(134217728,))]

CONTRACT = Close()


def fused_relu_sqrt(input: Tensor, inplace: bool = False, out: Tensor = None) -> Tensor:
    result = torch.sqrt(F.relu(input))
    return input.copy_(result) if inplace else result if out is None else out.copy_(result)


def inputs(make, shape, inplace=False, integers=None, strided=False, out=False):
    """``integers``: the least of them is the negative of this."""
    x = make.ints(*shape, low=-integers, high=integers) if integers else make.floats(*shape)
    return call(make.strided(x) if strided else x, inplace=inplace, out=make.plain(*shape) if out else None)


def _given(result, input, inplace, out):
    return input.copy_(result) if inplace else result if out is None else out.copy_(result)


def positive_reciprocal_root(input, inplace=False, out=None):
    """x times 1/sqrt(x), the rest by selection."""
    a = torch.where(input < 0, 0, input) * 1.0
    return _given(torch.where((a > 0) & a.isfinite(), a * torch.rsqrt(a), a), input, inplace, out)


def positive_result_apart(input, inplace=False, out=None):
    """Returns a tensor of its own in any case."""
    result = torch.sqrt(F.relu(input))
    return _given(result, input, inplace, out).clone() if inplace else _given(result, input, inplace, out)


def negative_no_relu(input, inplace=False, out=None):
    return _given(torch.sqrt(input), input, inplace, out)


def negative_square_root_of_magnitude(input, inplace=False, out=None):
    return _given(torch.sqrt(input.abs()), input, inplace, out)


def negative_nan_to_zero(input, inplace=False, out=None):
    """A maximum that drops NaN."""
    return _given(torch.sqrt(torch.where(input > 0, input, 0)), input, inplace, out)


def negative_never_inplace(input, inplace=False, out=None):
    return torch.sqrt(F.relu(input), out=out)


def negative_always_inplace(input, inplace=False, out=None):
    result = torch.sqrt(F.relu(input))
    if input.is_floating_point():
        input.copy_(result)
    return result if out is None else out.copy_(result)


def negative_intermediate_in_input(input, inplace=False, out=None):
    """With ``inplace`` the rectified values replace the input."""
    return torch.sqrt(F.relu(input, inplace=inplace), out=out)


def negative_ignores_out(input, inplace=False, out=None):
    return _given(torch.sqrt(F.relu(input)), input, inplace, None)
