"""Difference with a factor, element by element.

`sub(input, other, *, alpha=1, out=None)` computes `input - alpha * other`.

- `input`: a floating-point or integer tensor. `other`: such a tensor, or a Python number. Tensors broadcast by
  PyTorch's rules, and the result has the broadcast shape.
- The result has the dtype `torch.result_type(input, other)`, to which both are converted first: int32 with float32
  gives float32, int32 with int64 gives int64; a Python number takes the tensor's dtype, except that a float with an
  integer tensor gives float32. Integers wrap around. Half precision is computed in float32 and rounded at the end.
- `alpha`: a Python number that multiplies `other`; an int where the result is an integer. The product may be rounded
  before it is subtracted, or not (a fused multiply-add).
- `out`: if given, a contiguous tensor of the result's shape and dtype; it is filled and returned.

Arguments may be non-contiguous, expanded or empty and hold finite numbers; without `out` the result is a new tensor
with any strides.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("elementwise", "broadcast", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(4099,), other=(4099,), alpha=2),
    dict(shape=(33, 65), other=(33, 65), alpha=1.0),
    dict(shape=(1021,), other=2.0),
    dict(shape=(257,), other=(257,), out=True),
    dict(shape=(7, 129), other=(7, 129), alpha=2),
    dict(shape=(1,), other=(1,)),
    dict(shape=(17, 45), other=(17, 45), strided=True),
    dict(shape=(7, 1), other=(1, 33)),
    dict(shape=(5, 7, 9), other=(5, 7, 9)),
    dict(shape=(67,), other=0.5),
    dict(shape=(31,), other=(31,), alpha=-0.75),
    dict(shape=(4, 31), other=(4, 31), expanded=True),
    dict(shape=(129,), other=(129,), alpha=3, dtype=torch.int64, other_dtype=torch.int32),
    dict(shape=(9, 31), other=(9, 31), dtype=torch.int32, other_dtype=torch.float32),
    dict(shape=(65,), other=2.0, dtype=torch.int32),
    dict(shape=(45,), other=(45,), alpha=2, dtype=torch.float16, other_dtype=torch.float16),
    dict(shape=(0, 9), other=(0, 9)),
]

SIZES = [
    dict(shape=(4096,), other=(4096,)),
    dict(shape=(512, 1024), other=(512, 1024), alpha=2),
    dict(shape=(4096, 4096), other=(4096, 4096), alpha=1.5),
    dict(shape=(134217728,), other=(134217728,)),
]


def magnitude(input, other, *, alpha=1, out=None):
    """What is left of the difference carries the rounding of its terms."""
    return input.double().abs() + abs(alpha * other)


CONTRACT = Close(scale=magnitude)


def sub(input: torch.Tensor, other: torch.Tensor, *, alpha: float = 1, out: torch.Tensor = None) -> torch.Tensor:
    return torch.sub(input, other, alpha=alpha, out=out)


def inputs(make, shape, other, alpha=1, dtype=None, other_dtype=None, strided=False, expanded=False, out=False):
    x = _numbers(make, shape, dtype)
    y = _numbers(make, other, other_dtype) if isinstance(other, tuple) else other
    if strided:
        x, y = make.strided(x), make.strided(y)
    if expanded:
        y = make.expanded(make.floats(shape[0], 1), *shape)
    return call(x, y, alpha=alpha, out=torch.zeros_like(torch.sub(x, y)) if out else None)


def _numbers(make, shape, dtype):
    """Integers large enough to be lost in float32."""
    if dtype in (torch.int32, torch.int64):
        return make.ints(*shape, low=-(2**30), high=2**30, dtype=dtype)
    return make.floats(*shape, dtype=dtype)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_product_first(input, other, *, alpha=1, out=None):
    """Adds the negative product, in 64 bits."""
    dtype = torch.result_type(input, other)
    wide = torch.float64 if dtype.is_floating_point else torch.int64
    y = torch.as_tensor(other, device=input.device).to(wide)
    return _given((input.to(wide) + -alpha * y).to(dtype), out)


def negative_ignores_alpha(input, other, *, alpha=1, out=None):
    return torch.sub(input, other, out=out)


def negative_adds(input, other, *, alpha=1, out=None):
    return torch.add(input, other, alpha=alpha, out=out)


def negative_swapped(input, other, *, alpha=1, out=None):
    return _given(alpha * other - input, out)


def negative_alpha_on_both(input, other, *, alpha=1, out=None):
    return _given((alpha * (input - other)).to(torch.result_type(input, other)), out)


def negative_through_float32(input, other, *, alpha=1, out=None):
    """Integers lose bits beyond 2²⁴."""
    result = torch.sub(input, other, alpha=alpha)
    return _given(result.float().to(result.dtype), out)


def negative_dtype_of_input(input, other, *, alpha=1, out=None):
    return _given(torch.sub(input, other, alpha=alpha).to(input.dtype), out)


def negative_ignores_out(input, other, *, alpha=1, out=None):
    return torch.sub(input, other, alpha=alpha)
