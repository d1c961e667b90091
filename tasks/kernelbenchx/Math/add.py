"""Sum of two tensors, or of a tensor and a number, the second one scaled.

`add(input, other, alpha=1, out=None)` computes `input + alpha · other`, element by element.

- `input`: a floating-point or integer tensor. `other`: the same, or a Python number. Tensors broadcast by PyTorch's
  rules.
- Different dtypes are first converted to their common dtype by PyTorch's promotion: int32 with int64 gives int64, an
  integer with a float32 tensor float32; a Python float with an integer tensor gives float32, any other Python number
  and a tensor without dimensions of the same kind take the tensor's dtype.
- `alpha`: a Python number; an int where the result holds integers.
- Floating-point arithmetic is that of the common dtype, fused or in two roundings; float16 may be computed in float32
  and rounded at the end. Integers are exact.
- `out`: if given, a contiguous tensor of the result's shape and dtype; it is filled and returned.

Arguments may be non-contiguous, expanded or empty; without `out` the result is a new tensor with any strides.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("elementwise", "broadcast", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(4099,), other=(4099,), alpha=0.5),
    dict(shape=(33, 65), other=(33, 65)),
    dict(shape=(1021,), other=2.0),
    dict(shape=(257,), other=2.0, alpha=0.5),
    dict(shape=(7, 129), other=(7, 129), alpha=0.5),
    dict(shape=(1,), other=(1,)),
    dict(shape=(17, 45), other=(17, 45), strided=True),
    dict(shape=(7, 1), other=(1, 33)),
    dict(shape=(31, 7), other=(31, 7), alpha=-2.5),
    dict(shape=(31,), other=1.75),
    dict(shape=(3, 67), other=(3, 67), out=True),
    dict(shape=(129,), other=(129,), dtype=torch.float16, other_dtype=torch.float16),
    dict(shape=(9, 31), other=(9, 31), dtype=torch.int32, other_dtype=torch.int64),
    dict(shape=(65,), other=(65,), dtype=torch.int32, alpha=0.5),
    dict(shape=(33,), other=2.0, dtype=torch.int64),
    dict(shape=(4, 19), other=(), other_dtype=torch.float64),
    dict(shape=(0, 9), other=(0, 9)),
]

SIZES = [
    dict(shape=(4096,), other=(4096,)),
    dict(shape=(1048576,), other=(1048576,), alpha=0.5),
    dict(shape=(8192, 4096), other=(8192, 4096)),
    dict(shape=(100663296,), other=(100663296,)),
]


def magnitude(input, other, alpha=1, out=None):
    """Where the terms cancel, the rounding of alpha · other remains."""
    return input.abs() + torch.as_tensor(alpha * other).abs()


CONTRACT = Close(scale=magnitude)


def add(input, other, alpha=1, out=None):
    return torch.add(input, other, alpha=alpha, out=out)


def inputs(make, shape, other, dtype=torch.float32, other_dtype=torch.float32, alpha=1, strided=False, out=False):
    x = _numbers(make, shape, dtype)
    y = _numbers(make, other, other_dtype) if isinstance(other, tuple) else other
    if strided:
        x, y = make.strided(x), make.strided(y)
    return call(x, y, alpha=alpha, out=torch.zeros_like(torch.add(x, y)) if out else None)


def _numbers(make, shape, dtype):
    """Integers beyond what float32 holds exactly, but far from overflow."""
    if dtype.is_floating_point:
        return make.floats(*shape, dtype=dtype)
    return make.ints(*shape, low=-(10**8), high=10**8, dtype=dtype)


def positive_subtraction(input, other, alpha=1, out=None):
    """Minus the negative product, in the common dtype or float32."""
    dtype = torch.result_type(input, other)
    wide = torch.float32 if dtype == torch.float16 else dtype
    b = torch.as_tensor(other, device=input.device).to(wide) * -alpha
    result = (input.to(wide) - b).to(dtype)
    return result if out is None else out.copy_(result)


def negative_ignores_alpha(input, other, alpha=1, out=None):
    return torch.add(input, other, out=out)


def negative_scales_input(input, other, alpha=1, out=None):
    dtype = torch.result_type(input, other)
    result = torch.add(other, input, alpha=alpha) if isinstance(other, torch.Tensor) else input * alpha + other
    return result.to(dtype) if out is None else out.copy_(result)


def negative_through_float32(input, other, alpha=1, out=None):
    """Loses the digits of large integers."""
    b = torch.as_tensor(other, device=input.device).float()
    result = (input.float() + alpha * b).to(torch.result_type(input, other))
    return result if out is None else out.copy_(result)


def negative_dtype_of_input(input, other, alpha=1, out=None):
    result = torch.add(input, other, alpha=alpha).to(input.dtype)
    return result if out is None else out.copy_(result)


def negative_ignores_out(input, other, alpha=1, out=None):
    return torch.add(input, other, alpha=alpha)
