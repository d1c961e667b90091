"""Writes one number into slices of a tensor, in place.

`index_fill_(dim, x, index, value)` sets every element of `x` whose place along dimension `dim` is named in `index`:

    x[…, index[i], …] = value    for all i,

leaves the others as they are, and returns `x` itself.

- `x`: a tensor of any dtype with at least one dimension. It may be non-contiguous: it is written through its own
  strides.
- `dim`: may be negative, counted from the end.
- `index`: one-dimensional int64, values in `[0, x.shape[dim])`; in any order, repeated or none. It may be
  non-contiguous.
- `value`: a Python number, converted to `x`'s dtype.
"""

import torch

from kbx.suite import Exact, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("index", "in-place", "memory-bound")
MAGNITUDES = (-104, 120)
MUTATES = ("x",)

CASES = [
    dict(shape=(1, 1), dim=0, count=1, value=7),
    dict(shape=(37, 45), dim=1, count=19, value=3.14),
    dict(shape=(37, 45), dim=0, count=23, value=5),
    dict(shape=(1031, 3), dim=0, count=251, value=9),
    dict(shape=(5, 1031), dim=1, count=307, value=3),
    dict(shape=(4099,), dim=0, count=2511),
    dict(shape=(37, 45), dim=1, count=19, value=-1),
    dict(shape=(9, 13), dim=0, count=4, value=float("inf")),
    dict(shape=(37, 45), dim=-2, count=6),
    dict(shape=(11, 13), dim=0, count=6, strided=True),
    dict(shape=(4, 3, 5, 17), dim=1, count=2),
    dict(shape=(33, 7), dim=0, count=9, value=7, dtype=torch.int64),
    dict(shape=(9, 31), dim=1, count=12, dtype=torch.float16),
    dict(shape=(4, 9), dim=1, count=0),
    dict(shape=(0, 9), dim=1, count=5),
]

SIZES = [
    dict(shape=(64, 64), dim=0, count=16),
    dict(shape=(512, 512), dim=0, count=256),
    dict(shape=(8192, 1024), dim=0, count=4096),
    dict(shape=(16384, 8192), dim=1, count=4096),
    dict(shape=(65536, 1024), dim=0, count=32768),
]

CONTRACT = Exact()


def index_fill_(dim, x, index, value):
    return x.index_fill_(dim, index, value)


def inputs(make, shape, dim, count, value=3.14, dtype=None, strided=False):
    integer = dtype == torch.int64
    x = make.ints(*shape, low=-(2**40), high=2**40, dtype=dtype) if integer else make.floats(*shape, dtype=dtype)
    index = make.ints(count, low=0, high=shape[dim])
    if strided:
        x, index = make.strided(x), make.strided(index)
    return call(dim, x, index, value)


def positive_masked_fill(dim, x, index, value):
    """Marks the named places first; every slice is written at most once."""
    named = torch.zeros(x.shape[dim], dtype=torch.bool, device=x.device)
    named[index] = True
    return x.masked_fill_(named.reshape([-1 if d == dim % x.dim() else 1 for d in range(x.dim())]), value)


def negative_out_of_place(dim, x, index, value):
    return x.index_fill(dim, index, value)


def negative_other_dimension(dim, x, index, value):
    """Always the first dimension; places that it does not have are left out."""
    return x.index_fill_(0, index[index < x.shape[0]], value)


def negative_inverted(dim, x, index, value):
    """Fills the slices that are not named."""
    rest = torch.ones(x.shape[dim], dtype=torch.bool, device=x.device)
    rest[index] = False
    return x.index_fill_(dim, rest.nonzero().reshape(-1), value)


def negative_first_slices(dim, x, index, value):
    """Fills as many slices as there are indices, from the first on."""
    return x.index_fill_(dim, torch.arange(min(index.numel(), x.shape[dim]), device=x.device), value)


def negative_value_as_integer(dim, x, index, value):
    return x.index_fill_(dim, index, int(value) if abs(value) < 1e9 else value)


def negative_adds(dim, x, index, value):
    """Adds where it should write."""
    return x.copy_(torch.where(x.index_fill(dim, index, 0) != x, x + value, x))
