"""Sum of a tensor over one or several dimensions.

`sum(input, dim, keepdim=False, dtype=None)` adds up the elements of `input` along `dim` and returns a new tensor:

- `dim` is an int or a tuple of ints, negative values count from the end;
- `keepdim=True` keeps the summed dimensions with size 1, otherwise they are removed;
- `dtype` casts `input` *before* the summation and is the dtype of the result. By default floating-point input keeps its
  dtype, and integers and booleans are summed as int64.

`input` may be strided or broadcast. The sum over a dimension without elements is 0. The result never shares memory with
`input`, also where a summed dimension has size 1; its strides are not promised.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("reduction",)
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(33, 65), dim=0),
    dict(shape=(19, 1031), dim=1, keepdim=True),
    dict(shape=(3, 67, 45), dim=(1, 2)),
    dict(shape=(19, 23), dim=1, dtype=torch.float64),
    dict(shape=(9, 5, 17), dim=(0, 2), integers=torch.int64),
    dict(shape=(1, 1), dim=0),
    dict(shape=(1000,), dim=0, keepdim=True),
    dict(shape=(33, 65), dim=-1),
    dict(shape=(5, 17, 31), dim=1, keepdim=True, strided=True),
    dict(shape=(7, 0), dim=1),
    dict(shape=(21, 13), dim=0, integers=torch.int32, wide=True),
    dict(shape=(9, 5, 17), dim=(0, 2), keepdim=True, integers=torch.int64, wide=True),
    dict(shape=(5, 300), dim=1, booleans=True),
]

SIZES = [
    dict(shape=(64, 64), dim=0),
    dict(shape=(1024, 1024), dim=1),
    dict(shape=(8192, 8192), dim=0),
    dict(shape=(64, 1024, 2048), dim=(0, 2)),
    dict(shape=(16384, 8192), dim=1),
]


def magnitude(input, dim, keepdim=False, dtype=None):
    """Rounding errors of a sum grow with its terms, not with what is left after cancellation."""
    return torch.linalg.vector_norm(input.double(), dim=dim, keepdim=keepdim)


CONTRACT = Close(scale=magnitude)


def sum(input, dim, keepdim=False, dtype=None):
    return torch.sum(input, dim, keepdim=keepdim, dtype=dtype)


def inputs(make, shape, dim, keepdim=False, dtype=None, strided=False, integers=None, wide=False, booleans=False):
    """``integers`` are small, ``wide`` ones so large that their sum leaves int32, and exceeds what float32 holds."""
    low, high = (-1000, 2**31) if wide else (-30, 31)
    x = make.ints(*shape, low=low, high=high, dtype=integers) if integers else make.floats(*shape)
    x = make.bools(*shape, p=0.9) if booleans else x
    return call(make.strided(x) if strided else x, dim, keepdim=keepdim, dtype=dtype)


def positive_halves(input, dim, keepdim=False, dtype=None):
    """One dimension after the other, each as a tree of pairwise sums."""
    result = input.to(dtype or (input.dtype if input.is_floating_point() else torch.int64))
    for d in sorted([dim] if isinstance(dim, int) else dim, key=lambda d: d % input.ndim, reverse=True):
        result = result.movedim(d, 0)
        while result.shape[0] > 1:
            half = result.shape[0] // 2
            rest = result[2 * half :]
            result = torch.cat([result[:half] + result[half : 2 * half], rest])
        result = result[0] if result.shape[0] else result.new_zeros(result.shape[1:])
        result = result.unsqueeze(d) if keepdim else result
    return result.clone()


def positive_sequential(input, dim, keepdim=False, dtype=None):
    """One term after the other, as a loop over a row does."""
    result = input.to(dtype or (input.dtype if input.is_floating_point() else torch.int64))
    for d in sorted([dim] if isinstance(dim, int) else dim, key=lambda d: d % input.ndim, reverse=True):
        total = result.new_zeros(result.select(d, 0).shape if result.shape[d] else result.sum(d).shape)
        for term in result.unbind(d):
            total = total + term
        result = total.unsqueeze(d) if keepdim else total
    return result


def negative_mean(input, dim, keepdim=False, dtype=None):
    """Divides by the number of elements."""
    return torch.mean(input.to(dtype or torch.float32), dim, keepdim=keepdim)


def negative_drops_last(input, dim, keepdim=False, dtype=None):
    """Forgets the last element of the first dimension summed, as a kernel without a tail does."""
    d = dim if isinstance(dim, int) else dim[0]
    return torch.sum(input.narrow(d, 0, max(0, input.shape[d] - 1)), dim, keepdim=keepdim, dtype=dtype)


def negative_sums_in_the_input_dtype(input, dim, keepdim=False, dtype=None):
    """Widens the result only: int32 wraps around, and float64 comes too late."""
    result = torch.sum(input, dim, keepdim=keepdim, dtype=input.dtype)
    return result.to(dtype or (input.dtype if input.is_floating_point() else torch.int64))


def negative_integers_as_float(input, dim, keepdim=False, dtype=None):
    result = torch.sum(input.to(dtype or torch.float32), dim, keepdim=keepdim)
    return result if input.is_floating_point() else result.to(torch.int64)
