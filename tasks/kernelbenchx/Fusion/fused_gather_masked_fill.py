"""Elements of a tensor picked along one dimension by an index for each place, then overwritten where a mask is true.

`fused_gather_masked_fill(input, dim, index, mask, value, *, sparse_grad=False, out=None)`

1. `y` has the shape of `index`, and for `dim = 0` holds `y[i, j, …] = input[index[i, j, …], j, …]`; for other
   dimensions the index replaces that coordinate.
2. Where `mask` is true, `value` takes the place of `y`.

- `input`: a tensor of any dtype. `dim`: an int, negative values count from the end. `index`: int64, with as many
  dimensions as `input`, no larger than it in any dimension but `dim`, where its size is free, and with values in
  `[0, input.shape[dim])`.
- `mask`: bool, broadcastable to the shape of `index`. `value`: a Python number, converted to `input`'s dtype.
- `sparse_grad` concerns gradients only and changes nothing.
- `out`: if given, a contiguous tensor of `index`'s shape and `input`'s dtype; it is filled and returned.

Arguments may be non-contiguous, expanded or empty. Without `out` the result is a new tensor with any strides. Values
are copied bit for bit; NaN and infinity are ordinary values.
"""

import torch

from kbx.suite import Exact, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("index", "gather", "broadcast", "memory-bound", "fusion")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(37, 45), dim=1, index=(31, 53), mask=(31, 53)),
    dict(shape=(23, 29), dim=1, index=(23, 29), mask=(23, 29), density=0.7, value=0.0, sparse_grad=True),
    dict(shape=(21, 17), dim=1, index=(21, 8), mask=(21, 8), value=99.0, dtype=torch.int64),
    dict(shape=(3, 1031), dim=1, index=(3, 1033), mask=(3, 1033), value=-2.5),
    dict(shape=(131, 3), dim=1, index=(131, 7), mask=(131, 7), value=-5.0, dtype=torch.int64),
    dict(shape=(1, 1), dim=1, index=(1, 1), mask=(1, 1), density=0.0),
    dict(shape=(67,), dim=0, index=(131,), mask=(131,)),
    dict(shape=(37, 45), dim=-2, index=(53, 41), mask=(53, 41)),
    dict(shape=(37, 45), dim=1, index=(37, 53), mask=(37, 53), strided=True),
    dict(shape=(37, 45), dim=1, index=(31, 19), mask=(31, 1)),
    dict(shape=(9, 33), dim=1, index=(9, 40), mask=(9, 40), value=float("nan")),
    dict(shape=(9, 33), dim=1, index=(9, 40), mask=(), density=1.0),
    dict(shape=(5, 11, 13), dim=1, index=(5, 30, 7), mask=(5, 30, 7)),
    dict(shape=(21, 17), dim=1, index=(21, 8), mask=(21, 8), value=2**40 + 1, dtype=torch.int64, large=True),
    dict(shape=(37, 45), dim=1, index=(37, 19), mask=(37, 19), out=True),
    dict(shape=(4, 9), dim=1, index=(4, 0), mask=(4, 0)),
]

SIZES = [
    dict(shape=(32, 1024), dim=1, index=(32, 1024), mask=(32, 1024)),
    dict(shape=(4096, 1024), dim=1, index=(4096, 1024), mask=(4096, 1024)),
    dict(shape=(16384, 1024), dim=1, index=(16384, 1024), mask=(16384, 1024)),
    dict(shape=(65536, 1024), dim=1, index=(65536, 1024), mask=(65536, 1024)),
]

CONTRACT = Exact()


def fused_gather_masked_fill(input, dim, index, mask, value, *, sparse_grad=False, out=None):
    result = torch.gather(input, dim, index, sparse_grad=sparse_grad).masked_fill(mask, value)
    return result if out is None else out.copy_(result)


def inputs(
    make, shape, dim, index, mask, value=-1.0, density=0.4, dtype=None, large=False, sparse_grad=False, strided=False,
    out=False,
):  # fmt: skip
    high = 2**50 if large else 24
    x = make.ints(*shape, low=-high, high=high) if dtype == torch.int64 else make.floats(*shape)
    i, m = make.ints(*index, low=0, high=shape[dim]), make.bools(*mask, p=density)
    if strided:
        x, i, m = make.strided(x), make.strided(i), make.strided(m)
    target = torch.full(index, 7, dtype=x.dtype, device=x.device) if out else None
    return call(x, dim, i, m, value, sparse_grad=sparse_grad, out=target)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_flat_offsets(input, dim, index, mask, value, *, sparse_grad=False, out=None):
    """Offsets into the flat input, with the index's own coordinates along the other dimensions."""
    dim, offset = dim % input.dim(), 0
    for d in range(input.dim()):
        own = torch.arange(index.shape[d], device=index.device).view([-1 if e == d else 1 for e in range(input.dim())])
        offset = offset * input.shape[d] + (index if d == dim else own)
    y = input.reshape(-1)[offset]
    return _given(torch.where(mask, torch.full_like(y, value), y), out)


def negative_inverted_mask(input, dim, index, mask, value, *, sparse_grad=False, out=None):
    return _given(torch.gather(input, dim, index).masked_fill(~mask, value), out)


def negative_no_fill(input, dim, index, mask, value, *, sparse_grad=False, out=None):
    return _given(torch.gather(input, dim, index), out)


def negative_fills_first(input, dim, index, mask, value, *, sparse_grad=False, out=None):
    """Masks the input before the gather, where their shapes allow it."""
    if mask.shape != input.shape:
        return _given(torch.gather(input, dim, index).masked_fill(mask, value), out)
    return _given(torch.gather(input.masked_fill(mask, value), dim, index), out)


def negative_next_dimension(input, dim, index, mask, value, *, sparse_grad=False, out=None):
    """The index replaces the coordinate beside the right one."""
    places = list(torch.meshgrid(*(torch.arange(n, device=index.device) for n in index.shape), indexing="ij"))
    places[(dim + 1) % input.dim()] = index
    y = input[tuple(p % n for p, n in zip(places, input.shape, strict=True))]
    return _given(y.masked_fill(mask, value), out)


def negative_value_added(input, dim, index, mask, value, *, sparse_grad=False, out=None):
    return _given(torch.gather(input, dim, index) + mask * value, out)


def negative_ignores_out(input, dim, index, mask, value, *, sparse_grad=False, out=None):
    return torch.gather(input, dim, index).masked_fill(mask, value)
