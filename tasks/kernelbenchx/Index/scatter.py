"""A copy of a tensor with values written to indexed places.

`scatter(input, dim, index, src)` returns a new tensor: a copy of `input` where, for every place `(i, j, k)` of
`index`,

    out[index[i, j, k], j, k] = src[i, j, k]      for dim = 0,
    out[i, index[i, j, k], k] = src[i, j, k]      for dim = 1,  and so on for any number of dimensions.

- `dim` may be negative. `input`, `index` and `src` have equally many dimensions, at least one.
- `index`: int64, values in `[0, input.shape[dim])`. In no dimension is it larger than `src`, nor, but for `dim`, than
  `input`; what `src` has beyond `index`'s shape is not read. No place of the result is named twice.
- `src` has `input`'s dtype, which may be any. Values are copied bit for bit.

`input` is left as it was. All arguments may be non-contiguous, and `index` may be empty: then the result is a plain
copy. Its strides are not promised.
"""

import torch

from kbx.suite import Exact, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("index", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(37, 45), dim=0, index=(19, 45)),
    dict(shape=(37, 45), dim=1, index=(37, 30)),
    dict(shape=(5, 11, 13), dim=2, index=(5, 11, 9)),
    dict(shape=(131, 3), dim=0, index=(101, 3)),
    dict(shape=(2, 7, 1031), dim=2, index=(2, 7, 257)),
    dict(shape=(1, 1), dim=0, index=(1, 1)),
    dict(shape=(4099,), dim=0, index=(2511,)),
    dict(shape=(3, 5, 9, 7), dim=1, index=(2, 4, 8, 5), src=(3, 4, 9, 6)),
    dict(shape=(5, 11, 13), dim=1, index=(5, 7, 13), strided=True),
    dict(shape=(3, 9, 67), dim=-1, index=(3, 9, 20)),
    dict(shape=(129, 3), dim=0, index=(65, 3), dtype=torch.int64),
    dict(shape=(9, 31), dim=1, index=(9, 12), dtype=torch.bfloat16),
    dict(shape=(4, 9), dim=1, index=(4, 0)),
    dict(shape=(0, 9), dim=1, index=(0, 5)),
]

SIZES = [
    dict(shape=(256, 128), dim=0, index=(128, 128)),
    dict(shape=(8192, 128), dim=0, index=(4096, 128)),
    dict(shape=(4096, 4096), dim=1, index=(4096, 2048)),
    dict(shape=(524288, 128), dim=0, index=(262144, 128)),
]

CONTRACT = Exact()


def scatter(input, dim, index, src):
    return input.scatter(dim, index, src)


def inputs(make, shape, dim, index, src=None, dtype=None, strided=False):
    """Along `dim` the index is a random order of the places, shifted by another amount in each row: nothing repeats."""
    size, others = shape[dim], [1 if d == dim % len(shape) else n for d, n in enumerate(index)]
    order = make.plain(size, dtype=torch.float32).argsort()[: index[dim]]
    order = order.reshape([-1 if d == dim % len(shape) else 1 for d in range(len(shape))])
    place = ((order + make.ints(*others, low=0, high=size)) % size).expand(index).contiguous()
    tensors = _numbers(make, shape, dtype), place, _numbers(make, src or index, dtype)
    x, place, values = (make.strided(t) for t in tensors) if strided else tensors
    return call(x, dim, place, values)


def _numbers(make, shape, dtype):
    if dtype == torch.int64:
        return make.ints(*shape, low=-(2**40), high=2**40, dtype=dtype)
    return make.floats(*shape, dtype=dtype)


def _used(index, src):
    """The part of `src` that belongs to `index`."""
    return src[tuple(slice(n) for n in index.shape)]


def positive_flat_places(input, dim, index, src):
    """Every place as a number in the row-major result."""
    dim, flat = dim % input.dim(), torch.zeros_like(index)
    for d in range(input.dim()):
        along = torch.arange(index.shape[d], device=index.device).reshape(
            [-1 if k == d else 1 for k in range(input.dim())]
        )
        flat += (index if d == dim else along) * input.shape[d + 1 :].numel()
    result = input.contiguous().clone()
    result.view(-1)[flat.reshape(-1)] = _used(index, src).reshape(-1)
    return result


def negative_gather(input, dim, index, src):
    """Reads where it should write."""
    result = input.clone()
    result[tuple(slice(n) for n in index.shape)] = torch.gather(input, dim, index)
    return result


def negative_adds(input, dim, index, src):
    return input.scatter_add(dim, index, src)


def negative_into_zeros(input, dim, index, src):
    return torch.zeros_like(input).scatter(dim, index, src)


def negative_in_place(input, dim, index, src):
    return input.scatter_(dim, index, src)


def negative_one_index_for_all_rows(input, dim, index, src):
    """Takes the first row's index for every row, as index_copy does."""
    if not index.numel():
        return input.clone()
    first = index
    for d in range(index.dim()):
        first = first if d == dim % index.dim() else first.narrow(d, 0, 1)
    return input.scatter(dim, first.expand(index.shape), src)


def negative_flat_source(input, dim, index, src):
    """Reads `src` as if it had `index`'s shape."""
    return input.scatter(dim, index, src.reshape(-1)[: index.numel()].reshape(index.shape))
