"""Slices of a tensor along one dimension, picked by index.

`index_select(input, dim, index)`: `index` is a one-dimensional int64 or int32 tensor with values in
`[0, input.shape[dim])`; they may repeat, in any order, and may be none. `dim` may be negative. The result has `input`'s
shape but for size `len(index)` at `dim`, and slice `i` along `dim` is slice `index[i]` of `input`:

    out[…, i, …] = input[…, index[i], …]

The result is a new, contiguous tensor of `input`'s dtype (any dtype). `input` and `index` may be non-contiguous. Values
are copied bit for bit.
"""

import torch

from kbx.suite import Exact, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("index", "gather", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(37, 45), dim=0, count=53),
    dict(shape=(41, 33), dim=1, count=29),
    dict(shape=(5, 11, 13), dim=2, count=31),
    dict(shape=(1031, 3), dim=0, count=67),
    dict(shape=(2, 7, 257), dim=2, count=64),
    dict(shape=(1, 1), dim=0, count=1),
    dict(shape=(4099,), dim=0, count=101),
    dict(shape=(37, 45), dim=1, count=19, index_dtype=torch.int32),
    dict(shape=(5, 11, 13), dim=1, count=31, strided=True),
    dict(shape=(5, 11, 13), dim=-2, count=30),
    dict(shape=(4, 9, 7), dim=2, count=0),
    dict(shape=(0, 9), dim=1, count=5),
    dict(shape=(129, 3), dim=0, count=65, dtype=torch.int64),
]

SIZES = [
    dict(shape=(4096, 256), dim=0, count=512),
    dict(shape=(32768, 256), dim=0, count=4096),
    dict(shape=(8192, 8192), dim=1, count=4096),
    dict(shape=(1048576, 256), dim=0, count=524288),
]

CONTRACT = Exact(strides="contiguous")


def index_select(input: torch.Tensor, dim: int, index: torch.Tensor) -> torch.Tensor:
    return torch.index_select(input, dim, index)


def inputs(make, shape, dim, count, dtype=None, index_dtype=torch.int64, strided=False):
    integer = dtype is not None and not dtype.is_floating_point
    x = make.ints(*shape, low=-(2**40), high=2**40, dtype=dtype) if integer else make.floats(*shape, dtype=dtype)
    index = make.ints(count, low=0, high=shape[dim], dtype=index_dtype)
    return call(make.strided(x), dim, make.strided(index)) if strided else call(x, dim, index)


def positive_gather(input, dim, index):
    dim = dim % input.dim()
    shape = [*input.shape[:dim], index.numel(), *input.shape[dim + 1 :]]
    place = index.long().reshape([-1 if d == dim else 1 for d in range(input.dim())]).expand(shape)
    return torch.gather(input, dim, place)


def negative_sorted_index(input, dim, index):
    return torch.index_select(input, dim, index.sort().values)


def negative_unique_index(input, dim, index):
    """Serves every repeated index once only; the rest of the result stays zero."""
    picked = torch.index_select(input, dim, index.unique())
    out = torch.index_select(torch.zeros_like(input), dim, index)
    out.narrow(dim, 0, picked.shape[dim]).copy_(picked)
    return out


def negative_off_by_one(input, dim, index):
    return torch.index_select(input, dim, (index + 1) % max(1, input.shape[dim]))


def negative_through_float32(input, dim, index):
    """Integers moved through float32 lose bits beyond 2²⁴; float data survives it."""
    return torch.index_select(input, dim, index).float().to(input.dtype)
