"""Product minus a scaled term, element by element.

`fused_mul_sub(input, other_mul, other_sub, alpha=1, out=None)` computes `input · other_mul - alpha · other_sub`.

- `input`: a float32 or integer tensor. `other_mul`, `other_sub`: each a tensor of the same dtype, or a Python number
  (an int if `input` holds integers). All tensors broadcast by PyTorch's rules; the result has the common shape and
  `input`'s dtype.
- `alpha`: a Python number that multiplies `other_sub` alone, an int if `input` holds integers.
- `out`: if given, a contiguous tensor of the result's shape and dtype; it is filled and returned.

Float products may be rounded or contracted to a fused multiply-add; integers wrap around modulo 2^32 or 2^64. Arguments
may be non-contiguous, expanded or empty; without `out` the result is a new tensor with any strides.
"""

import torch

from kbx.suite import Close, broadcast, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("elementwise", "broadcast", "memory-bound", "fusion")
MAGNITUDES = (-104, 56)

CASES = [
    dict(shape=(1021,), mul=(1021,), sub=(1021,), alpha=-0.5),
    dict(shape=(37, 61), mul=(37, 61), sub=(37, 61), alpha=-0.5),
    dict(shape=(131,), mul=2.0, sub=(131,)),
    dict(shape=(29,), mul=(29,), sub=0.5),
    dict(shape=(17, 83), mul=(17, 83), sub=(17, 83)),
    dict(shape=(1,), mul=(1,), sub=(1,)),
    dict(shape=(517,), mul=(517,), sub=(517,), out=True),
    dict(shape=(6, 31), mul=(6, 31), sub=(6, 31), alpha=2),
    dict(shape=(17, 45), mul=(1, 45), sub=(17, 1)),
    dict(shape=(7, 1, 33), mul=(5, 1), sub=(7, 5, 33)),
    dict(shape=(17, 45), mul=(17, 45), sub=(17, 45), strided=True),
    dict(shape=(9, 37), mul=(9, 37), sub=(9, 37), alpha=-3, dtype=torch.int32),
    dict(shape=(65,), mul=(65,), sub=(65,), dtype=torch.int64),
    dict(shape=(0, 9), mul=(0, 9), sub=(0, 9)),
]

SIZES = [
    dict(shape=(4096,), mul=(4096,), sub=(4096,)),
    dict(shape=(1048576,), mul=(1048576,), sub=(1048576,), alpha=-0.5),
    dict(shape=(4096, 4096), mul=(4096, 4096), sub=(4096, 4096)),
    dict(shape=(67108864,), mul=(67108864,), sub=(67108864,)),
]


def magnitude(input, other_mul, other_sub, alpha=1, out=None):
    """Rounding errors grow with the terms, not with what is left of them by cancellation."""
    return (input.double() * other_mul).abs() + abs(alpha * other_sub)


CONTRACT = Close(scale=magnitude)


def fused_mul_sub(input, other_mul, other_sub, alpha=1, out=None):
    return torch.sub(torch.mul(input, other_mul), other_sub, alpha=alpha, out=out)


def inputs(make, shape, mul, sub, alpha=1, dtype=None, strided=False, out=False):
    def numbers(size):
        if not isinstance(size, tuple):
            return size
        if dtype:
            return make.ints(*size, low=torch.iinfo(dtype).min, high=torch.iinfo(dtype).max, dtype=dtype)
        return make.floats(*size)

    x, y, z = numbers(shape), numbers(mul), numbers(sub)
    if strided:
        x, y, z = make.strided(x), make.strided(y), make.strided(z)
    sizes = [s for s in (shape, mul, sub) if isinstance(s, tuple)]
    target = torch.full(broadcast(*sizes), 7, dtype=x.dtype, device=x.device) if out else None
    return call(x, y, z, alpha=alpha, out=target)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_fused_multiply_add(input, other_mul, other_sub, alpha=1, out=None):
    return _given(torch.addcmul(_tensor(other_sub, input) * -alpha, input, _tensor(other_mul, input)), out)


def _tensor(value, like):
    return torch.as_tensor(value, dtype=like.dtype, device=like.device)


def negative_ignores_alpha(input, other_mul, other_sub, alpha=1, out=None):
    return _given(input * other_mul - other_sub, out)


def negative_alpha_on_difference(input, other_mul, other_sub, alpha=1, out=None):
    return _given(alpha * (input * other_mul - other_sub), out)


def negative_adds(input, other_mul, other_sub, alpha=1, out=None):
    return _given(input * other_mul + alpha * other_sub, out)


def negative_subtracts_first(input, other_mul, other_sub, alpha=1, out=None):
    return _given((input - alpha * other_sub) * other_mul, out)


def negative_through_float(input, other_mul, other_sub, alpha=1, out=None):
    """Integers calculated in floating point lose their low bits."""
    x = input.double() if input.dtype.itemsize > 4 else input.float()
    return _given((x * other_mul - alpha * other_sub).to(input.dtype), out)


def negative_ignores_out(input, other_mul, other_sub, alpha=1, out=None):
    return torch.sub(input * other_mul, other_sub, alpha=alpha)
