"""Product, element by element.

`mul(input, other, out=None)` computes `input * other`.

- `input`: a floating-point, integer or complex64 tensor. `other`: such a tensor, complex64 where `input` is, or a Python
  number. Tensors broadcast by PyTorch's rules, and the result has the broadcast shape.
- The result has the dtype `torch.result_type(input, other)`, to which both are converted first: int32 with float32
  gives float32, int32 with int64 gives int64; a Python number takes the tensor's dtype, except that a float with an
  integer tensor gives float32. A tensor without dimensions counts like a number: float16 with such a float32 gives
  float16. Integers wrap around. Half precision is multiplied in float32 and rounded once.
- NaN, infinities and zeros follow IEEE 754: `inf * 0` is NaN. Complex numbers are finite; the product
  `(a + bi)(c + di) = (ac - bd) + (ad + bc)i` is judged relative to the product of the magnitudes, so that any order of
  rounding is accurate enough.
- `out`: if given, a contiguous tensor of the result's shape and dtype; it is filled and returned.

Arguments may be non-contiguous, expanded or empty; without `out` the result is a new tensor with any strides.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("elementwise", "broadcast", "memory-bound")
MAGNITUDES = (-52, 56)

CASES = [
    dict(shape=(4099,), other=(4099,)),
    dict(shape=(33, 65), other=(33, 65)),
    dict(shape=(33,), other=(7, 1), dtype=torch.int64, other_dtype=torch.int64, limit=13),
    dict(shape=(257,), other=2.5),
    dict(shape=(129,), other=(129,), dtype=torch.complex64, other_dtype=torch.complex64),
    dict(shape=(1021,), other=(1021,), dtype=torch.int64, limit=13),
    dict(shape=(1,), other=(1,)),
    dict(shape=(999,), other=(999,), special=True),
    dict(shape=(17, 45), other=(17, 45), strided=True),
    dict(shape=(17, 45), other=(45,)),
    dict(shape=(7, 1, 33), other=(5, 1)),
    dict(shape=(3, 67), other=(3, 67), out=True),
    dict(shape=(31,), other=-2.5),
    dict(shape=(4, 31), other=(4, 31), expanded=True),
    dict(shape=(128,), other=(128,), dtype=torch.int64, other_dtype=torch.int32),
    dict(shape=(65,), other=2.5, dtype=torch.int32, limit=13),
    dict(shape=(9,), other=(9,), dtype=torch.float16, other_dtype=torch.float16),
    dict(shape=(37,), other=(), dtype=torch.float16, other_dtype=torch.float32),
    dict(shape=(0, 9), other=(0, 9)),
]

SIZES = [
    dict(shape=(4096,), other=(4096,)),
    dict(shape=(512, 1024), other=(512, 1024)),
    dict(shape=(4096,), other=(4096, 4096)),
    dict(shape=(134217728,), other=(134217728,)),
]


def magnitude(input, other, out=None):
    """The parts of a complex product may cancel, and what is rounded is their terms."""
    if not input.is_complex():
        return 0.0
    return input.to(torch.complex128).abs() * torch.as_tensor(other).to(torch.complex128).abs()


CONTRACT = Close(scale=magnitude)


def mul(input, other, out=None):
    return torch.mul(input, other, out=out)


def inputs(make, shape, other, dtype=None, other_dtype=None, limit=2**30, special=False, **form):
    x = _numbers(make, shape, dtype, limit)
    y = _numbers(make, other, other_dtype, limit) if isinstance(other, tuple) else other
    if special:
        x[:4], y[:4] = (
            torch.tensor([float("nan"), float("inf"), float("-inf"), 0.0]),
            torch.tensor([1.0, 0.0, 2.0, -3.0]),
        )
    return _formed(make, x, y, shape, **form)


def _formed(make, x, y, shape, strided=False, expanded=False, out=False):
    if strided:
        x, y = make.strided(x), make.strided(y)
    if expanded:
        y = make.expanded(make.floats(shape[0], 1), *shape)
    target = torch.zeros_like(torch.mul(x, y), memory_format=torch.contiguous_format) if out else None
    return call(x, y, out=target)


def _numbers(make, shape, dtype, limit):
    """Integers, by default large enough to be lost in float32, and in int32 their products."""
    if dtype in (torch.int32, torch.int64):
        return make.ints(*shape, low=-limit, high=limit, dtype=dtype)
    return make.floats(*shape, dtype=dtype)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_double(input, other, out=None):
    """Factors swapped, in double precision; integers as they are."""
    dtype = torch.result_type(input, other)
    exact = dtype.is_floating_point or dtype.is_complex
    x = input.to(torch.promote_types(dtype, torch.float64)) if exact else input
    return _given((other * x).to(dtype), out)


def positive_parts(input, other, out=None):
    """Complex products by three real ones."""
    if not input.is_complex():
        return torch.mul(input, other, out=out)
    (a, b), (c, d) = (torch.view_as_real(t).double().unbind(-1) for t in torch.broadcast_tensors(input, other))
    common = c * (a + b)
    product = torch.stack((common - b * (c + d), common + a * (d - c)), -1)
    return _given(torch.view_as_complex(product).to(input.dtype), out)


def negative_sum(input, other, out=None):
    return torch.add(input, other, out=out)


def negative_through_float32(input, other, out=None):
    """Integers lose bits beyond 2²⁴."""
    result = torch.mul(input, other)
    return _given(result.float().to(result.dtype), out)


def negative_dtype_of_input(input, other, out=None):
    return _given(torch.mul(input, other).to(input.dtype), out)


def negative_number_as_integer(input, other, out=None):
    return _given(torch.mul(input, other if isinstance(other, torch.Tensor) else int(other)), out)


def negative_no_broadcast(input, other, out=None):
    """Reads `other` as a flat run of numbers, again from its start where it ends."""
    result = torch.mul(input, other)
    if isinstance(other, torch.Tensor) and other.numel() and input.numel():
        n = result.numel()
        flat = (t.reshape(-1).repeat(-(-n // t.numel()))[:n] for t in (input, other))
        result = torch.mul(*flat).reshape(result.shape).to(result.dtype)
    return _given(result, out)


def negative_real_times_real(input, other, out=None):
    """Multiplies real parts by real ones and imaginary by imaginary ones."""
    if not input.is_complex():
        return torch.mul(input, other, out=out)
    x, y = (torch.view_as_real(t) for t in torch.broadcast_tensors(input, other))
    return _given(torch.view_as_complex(x * y), out)


def negative_conjugated(input, other, out=None):
    return torch.mul(input, other.conj() if isinstance(other, torch.Tensor) else other, out=out)


def negative_ignores_out(input, other, out=None):
    return torch.mul(input, other)
