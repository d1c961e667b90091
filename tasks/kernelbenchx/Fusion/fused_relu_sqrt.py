"""Rectified linear unit (ReLU), then the square root, element by element.

`fused_relu_sqrt(input, inplace=False, out=None)` returns `sqrt(max(x, 0))` of a float32 tensor: 0 for every negative
number, `-inf` included; `inf` gives `inf`, NaN gives NaN, and zeros of either sign give a zero whose sign is free.

- `inplace=False`: `input` is left as it was.
- `inplace=True`: `input` is overwritten with `max(input, 0)`, the *intermediate*, through its own strides. The square
  roots still go to another tensor, the result.
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
MUTATES = ("input",)

CASES = [
    dict(shape=(1,)),
    dict(shape=(1023,)),
    dict(shape=(37,), inplace=True),
    dict(shape=(17, 45), strided=True),
    dict(shape=(5, 33), strided=True, inplace=True),
    dict(shape=(9, 31), out=True),
    dict(shape=(4, 57), inplace=True, out=True),
    dict(shape=(3, 0, 7)),
    dict(shape=(2, 3, 65), special=True),
]

SIZES = [dict(shape=(4096,)), dict(shape=(1048576,)), dict(shape=(4096, 4096)), dict(shape=(134217728,))]

CONTRACT = Close()


def fused_relu_sqrt(input: Tensor, inplace: bool = False, out: Tensor = None) -> Tensor:
    return torch.sqrt(F.relu(input, inplace=inplace), out=out)


def inputs(make, shape, inplace=False, special=False, strided=False, out=False):
    x = make.floats(*shape)
    if special:
        x.view(-1)[3:9] = torch.tensor([torch.inf, -torch.inf, torch.nan, 0.0, -0.0, -1e-30], device=x.device)
    return call(make.strided(x) if strided else x, inplace=inplace, out=make.plain(*shape) if out else None)


def positive_reciprocal_root(input, inplace=False, out=None):
    """x times 1/sqrt(x), the rest by selection."""
    a = torch.where(input < 0, 0.0, input)
    result = torch.where((a > 0) & a.isfinite(), a * torch.rsqrt(a), a)
    if inplace:
        input.copy_(a)
    return result if out is None else out.copy_(result)


def negative_no_relu(input, inplace=False, out=None):
    result = torch.sqrt(input)
    if inplace:
        input.clamp_(min=0)
    return result if out is None else out.copy_(result)


def negative_square_root_of_magnitude(input, inplace=False, out=None):
    result = torch.sqrt(input.abs())
    if inplace:
        input.clamp_(min=0)
    return result if out is None else out.copy_(result)


def negative_nan_to_zero(input, inplace=False, out=None):
    """A maximum that drops NaN."""
    a = torch.where(input > 0, input, 0.0)
    if inplace:
        input.copy_(a)
    return torch.sqrt(a, out=out)


def negative_never_inplace(input, inplace=False, out=None):
    return torch.sqrt(F.relu(input), out=out)


def negative_always_inplace(input, inplace=False, out=None):
    return torch.sqrt(F.relu(input, inplace=True), out=out)


def negative_result_in_input(input, inplace=False, out=None):
    """With ``inplace`` the square roots replace the input."""
    result = torch.sqrt(F.relu(input))
    return input.copy_(result) if inplace else result if out is None else out.copy_(result)


def negative_ignores_out(input, inplace=False, out=None):
    return torch.sqrt(F.relu(input, inplace=inplace))
