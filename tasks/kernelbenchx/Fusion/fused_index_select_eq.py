"""Slices of a tensor picked by index, compared for equality.

`fused_index_select_eq(input, dim, index, other, *, out=None)`

1. `index` is a one-dimensional int64 or int32 tensor with values in `[0, input.shape[dim])`; they may repeat, in any
   order, and may be none. `dim` may be negative. Slice `i` along `dim` of `s` is slice `index[i]` of `input`.
2. The result is a bool tensor of `s`'s shape: where `s == other`. `other` is a tensor of `input`'s dtype that
   broadcasts to that shape, or a Python number, which is first rounded to `input`'s dtype.

`input` has any dtype; integers are compared in all their bits. NaN equals nothing, and 0.0 equals -0.0. `out`: if
given, a contiguous bool tensor of the result's shape; it is filled and returned. Arguments may be non-contiguous,
expanded or empty; without `out` the result is a new tensor with any strides.
"""

import torch

from kbx.suite import Exact, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("index", "gather", "elementwise", "broadcast", "memory-bound", "fusion")

CASES = [
    dict(shape=(37, 45), dim=0, count=53, other=(53, 45)),
    dict(shape=(37, 45), dim=1, count=19, other=(37, 19)),
    dict(shape=(131, 7), dim=0, count=1, other=(1, 7)),
    dict(shape=(3, 1031), dim=1, count=1037, other=(3, 1037)),
    dict(shape=(15, 21), dim=0, count=40),
    dict(shape=(1, 1), dim=0, count=1),
    dict(shape=(37, 45), dim=0, count=53, other=(53, 45), out=True),
    dict(shape=(37, 45), dim=1, count=19, other=(37, 19), int32=True),
    dict(shape=(37, 45), dim=1, count=19, other=(19,)),
    dict(shape=(5, 11, 13), dim=1, count=30, other=(5, 30, 13)),
    dict(shape=(31, 9), dim=0, count=23, other=(23, 9), strided=True),
    dict(shape=(15, 21), dim=-1, count=40),
    dict(shape=(31, 9), dim=0, count=23, other=(23, 9), large=True),
    dict(shape=(61, 45), dim=0, count=53, other=(53, 45), dtype=torch.float32),
    dict(shape=(13, 17), dim=0, count=20, other=1.1, dtype=torch.float32),
    dict(shape=(9, 17), dim=1, count=33, other=(9, 33), dtype=torch.float32, nan=0.2),
    dict(shape=(4, 9), dim=1, count=0),
]

SIZES = [
    dict(shape=(4096, 128), dim=0, count=512),
    dict(shape=(262144, 128), dim=0, count=32768),
    dict(shape=(8192, 8192), dim=1, count=4096, other=(8192, 4096)),
    dict(shape=(524288, 128), dim=0, count=524288),
]

CONTRACT = Exact()


def fused_index_select_eq(input, dim, index, other, *, out=None):
    result = torch.eq(torch.index_select(input, dim, index), other)
    return result if out is None else out.copy_(result)


def inputs(
    make, shape, dim, count, other=2, dtype=torch.int64, large=False, nan=0.0, int32=False, strided=False, out=False
):
    """Small integers, or multiples of 1.1, few enough for many to be equal; ``large`` ones are beyond float32's 24 bits.
    Where they differ, it is by a whole number, as little as a rounding error, or in the upper half of an integer.
    """
    if dtype == torch.int64:
        x = make.ints(*shape, low=-1, high=3) + (2**40 if large else 0)
    else:
        x = (make.floats(*shape) * 3).clamp(-3, 3).round() * 1.1
        x = x.masked_fill(make.bools(*shape, p=nan), float("nan")) if nan else x
    index = make.ints(count, low=0, high=shape[dim], dtype=torch.int32 if int32 else torch.int64)
    y = other
    if isinstance(other, tuple):
        y = torch.index_select(x, dim, index)
        y = y[(0,) * (y.dim() - len(other))][tuple(slice(0, n) for n in other)]
        far, near = (y + 5, y * (1 + 2**-23)) if dtype.is_floating_point else (y + 1, y + (2**33 if large else 2))
        y = torch.where(make.bools(*other), y, torch.where(make.bools(*other), far, near))
    if strided:
        x, index, y = make.strided(x), make.strided(index), make.strided(y)
    selected = [*shape[: dim % len(shape)], count, *shape[dim % len(shape) + 1 :]]
    return call(x, dim, index, y, out=make.bools(*selected) if out else None)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_gather(input, dim, index, other, *, out=None):
    """Places for a gather, and the absence of a difference."""
    dim = dim % input.dim()
    shape = [*input.shape[:dim], index.numel(), *input.shape[dim + 1 :]]
    place = index.long().reshape([-1 if d == dim else 1 for d in range(input.dim())]).expand(shape)
    s = torch.gather(input, dim, place)
    return _given(~((s < other) | (s > other) | (s != s)), out)


def negative_close(input, dim, index, other, *, out=None):
    s = torch.index_select(input, dim, index)
    other = torch.as_tensor(other, dtype=s.dtype, device=s.device)
    return _given(torch.isclose(s, other, equal_nan=True), out)


def negative_difference_rounded_to_zero(input, dim, index, other, *, out=None):
    """Takes values within a rounding error for equal."""
    s = torch.index_select(input, dim, index)
    return _given(((s - other).abs() < 1e-6) if s.is_floating_point() else s == other, out)


def negative_lower_half(input, dim, index, other, *, out=None):
    """Compares int64 as int32."""
    s = torch.index_select(input, dim, index)
    if s.is_floating_point():
        return _given(s == other, out)
    return _given(s.int() == torch.as_tensor(other, device=s.device).int(), out)


def negative_bits(input, dim, index, other, *, out=None):
    """Compares bit patterns: NaN equals itself then, and 0.0 is not -0.0."""
    s = torch.index_select(input, dim, index)
    other = torch.as_tensor(other, dtype=s.dtype, device=s.device).contiguous()
    kind = torch.int32 if s.dtype == torch.float32 else s.dtype
    return _given(s.contiguous().view(kind) == other.view(kind), out)


def negative_through_float32(input, dim, index, other, *, out=None):
    other = other.float() if isinstance(other, torch.Tensor) else other
    return _given(torch.eq(torch.index_select(input, dim, index).float(), other), out)


def negative_number_in_float64(input, dim, index, other, *, out=None):
    return _given(torch.index_select(input, dim, index).to(torch.float64) == other, out)


def negative_not_equal(input, dim, index, other, *, out=None):
    return _given(torch.index_select(input, dim, index) != other, out)


def negative_compares_before_selecting(input, dim, index, other, *, out=None):
    """Compares, then selects: right for numbers only."""
    if isinstance(other, torch.Tensor):
        other = other.reshape(-1)[:1] if other.numel() else 0
    return _given(torch.index_select(input == other, dim, index), out)


def negative_ignores_out(input, dim, index, other, *, out=None):
    return torch.eq(torch.index_select(input, dim, index), other)
