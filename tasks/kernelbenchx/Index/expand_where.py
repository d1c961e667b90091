"""Expands a tensor and replaces the elements where a condition is false.

`expand_where(input, target_sizes, cond, other)` computes `where(cond, E, other)`, with `E` the input expanded to
`target_sizes`:

- `target_sizes`: a tuple of ints, at least as many as `input` has dimensions. Dimensions of size 1 are repeated,
  missing ones are added in front, and -1 keeps the size that `input` has there.
- The result has the shape to which `E`, `cond` and `other` broadcast by PyTorch's rules, which may be larger than
  `target_sizes`. An element is `E`'s where `cond` is true and `other`'s elsewhere, copied bit for bit; NaN on the
  side that was not chosen plays no part.

`input` and `other` have one dtype, any; `cond` is bool. All may be non-contiguous, expanded or empty. The result is a
new tensor of that dtype with any strides.
"""

import torch

from kbx.suite import Exact, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("index", "broadcast", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(1, 129), target=(37, 129), cond=(37, 1), other=(37, 129)),
    dict(shape=(1, 67), target=(5, 67), cond=(5, 1), other=(5, 67)),
    dict(shape=(1, 1031), target=(17, 1031), cond=(17, 1), other=(17, 1031)),
    dict(shape=(1, 31), target=(101, 31), cond=(101, 1), other=(101, 31)),
    dict(shape=(1, 512), target=(64, 512), cond=(64, 1), other=(64, 512)),
    dict(shape=(1, 1), target=(1, 1), cond=(1, 1), other=(1, 1)),
    dict(shape=(45,), target=(17, 45), cond=(17, 45), other=(17, 45)),
    dict(shape=(1, 129), target=(37, 129), cond=(37, 1), other=(37, 129), strided=True),
    dict(shape=(5, 1), target=(7, -1, 33), cond=(33,), other=(7, 5, 33)),
    dict(shape=(1, 31), target=(9, 31), cond=(4, 1, 1), other=(31,)),
    dict(shape=(1, 19), target=(11, 19), cond=(11, 1), other=(11, 19), nan=True),
    dict(shape=(), target=(65,), cond=(), other=(65,)),
    dict(shape=(1, 67), target=(5, 67), cond=(5, 1), other=(5, 67), dtype=torch.int64),
    dict(shape=(1, 9), target=(0, 9), cond=(0, 1), other=(0, 9)),
]

SIZES = [
    dict(shape=(1, 1024), target=(256, 1024), cond=(256, 1), other=(256, 1024)),
    dict(shape=(1, 16384), target=(256, 16384), cond=(256, 1), other=(256, 16384)),
    dict(shape=(1, 4096), target=(4096, 4096), cond=(4096, 1), other=(4096, 4096)),
    dict(shape=(1, 16384), target=(8192, 16384), cond=(8192, 1), other=(8192, 16384)),
]

CONTRACT = Exact()


def expand_where(input, target_sizes, cond, other):
    return torch.where(cond, input.expand(*target_sizes), other)


def inputs(make, shape, target, cond, other, dtype=None, nan=False, strided=False):
    """`nan` makes all of `other` NaN."""
    x, y, c = _numbers(make, shape, dtype), _numbers(make, other, dtype), make.bools(*cond)
    if nan:
        y = y.fill_(float("nan"))
    if strided:
        x, y, c = make.strided(x), make.strided(y), make.strided(c)
    return call(x, target, c, y)


def _numbers(make, shape, dtype):
    return make.ints(*shape, low=-(2**40), high=2**40, dtype=dtype) if dtype else make.floats(*shape)


def positive_masked_copy(input, target_sizes, cond, other):
    expanded = input.expand(*target_sizes)
    shape = torch.broadcast_shapes(expanded.shape, cond.shape, other.shape)
    result, chosen = other.expand(shape).clone(), cond.expand(shape)
    result[chosen] = expanded.expand(shape)[chosen]
    return result


def negative_inverted(input, target_sizes, cond, other):
    return torch.where(~cond, input.expand(*target_sizes), other)


def negative_blend(input, target_sizes, cond, other):
    """Selects by multiplication: NaN times zero is NaN."""
    chosen = cond.to(input.dtype)
    return chosen * input.expand(*target_sizes) + (1 - chosen) * other


def negative_repeats_flat(input, target_sizes, cond, other):
    """Fills the target with the input's elements one after the other, whichever dimension is expanded."""
    expanded = input.expand(*target_sizes)
    if expanded.numel():
        flat = input.reshape(-1)
        expanded = flat.repeat(expanded.numel() // flat.numel()).reshape(expanded.shape)
    return torch.where(cond, expanded, other)


def negative_target_shape_only(input, target_sizes, cond, other):
    """Leaves out what `cond` and `other` add to the shape."""
    expanded = input.expand(*target_sizes)
    result = torch.where(cond, expanded, other)
    return result.reshape(-1)[: expanded.numel()].reshape(expanded.shape)


def negative_through_float32(input, target_sizes, cond, other):
    """Integers lose bits beyond 2²⁴."""
    return torch.where(cond, input.expand(*target_sizes), other).float().to(other.dtype)
