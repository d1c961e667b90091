"""Mean of a tensor over one or several dimensions.

`mean(input_tensor, dim, keepdim=False, dtype=None, out=None)` adds up the elements of `input_tensor` along `dim` and
divides by their number:

- `dim` is an int or a tuple of ints, negative values count from the end;
- `keepdim=True` keeps the reduced dimensions with size 1, otherwise they are removed;
- `dtype` (floating) casts the elements *before* the summation and is the dtype of the result; by default it is
  `input_tensor`'s own, which must then be floating. Integers are only given together with a `dtype`;
- `out`: if given, a contiguous tensor of the result's shape and dtype; it is filled and returned.

`input_tensor` may be strided or broadcast. The mean over no elements is NaN. A new result never shares memory with
`input_tensor`, also where a reduced dimension has size 1; its strides are not promised.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 1
DTYPE = "float32"
TAGS = ("reduction", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(33, 65), dim=0),
    dict(shape=(19, 1031), dim=1, keepdim=True),
    dict(shape=(5, 17, 31), dim=(0, 2)),
    dict(shape=(3, 7, 257), dim=(0, 2), keepdim=True),
    dict(shape=(21, 13), dim=0, integers=True, dtype=torch.float32),
    dict(shape=(1, 1), dim=0),
    dict(shape=(1003,), dim=0, keepdim=True),
    dict(shape=(33, 65), dim=-1),
    dict(shape=(33, 65), dim=0, strided=True),
    dict(shape=(5, 17, 31), dim=(0, 2), keepdim=True, out=True),
    dict(shape=(7, 0), dim=1),
    dict(shape=(0, 5), dim=1),
    dict(shape=(19, 23), dim=1, dtype=torch.float64),
]

SIZES = [
    dict(shape=(64, 64), dim=0),
    dict(shape=(1024, 1024), dim=1),
    dict(shape=(8192, 8192), dim=0),
    dict(shape=(64, 1024, 2048), dim=(0, 2)),
    dict(shape=(16384, 8192), dim=1),
]


def magnitude(input_tensor, dim, keepdim=False, dtype=None, out=None):
    """Rounding errors of a sum grow with its terms, not with what is left after cancellation."""
    norm = torch.linalg.vector_norm(input_tensor.double(), dim=dim, keepdim=keepdim)
    return norm / max(1, _count(input_tensor, dim))


CONTRACT = Close(scale=magnitude)


def mean(input_tensor, dim, keepdim=False, dtype=None, out=None):
    return torch.mean(input_tensor, dim, keepdim=keepdim, dtype=dtype, out=out)


def inputs(make, shape, dim, keepdim=False, dtype=None, strided=False, integers=False, out=False):
    x = make.ints(*shape, low=-30, high=21, dtype=torch.int32) if integers else make.floats(*shape)
    target = torch.full_like(x.sum(dim, keepdim=keepdim), -1.0) if out else None
    return call(make.strided(x) if strided else x, dim, keepdim=keepdim, dtype=dtype, out=target)


def _count(x, dim):
    return torch.Size(x.shape[d] for d in ((dim,) if isinstance(dim, int) else dim)).numel()


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_halves(input_tensor, dim, keepdim=False, dtype=None, out=None):
    """One dimension after the other, each as a tree of pairwise sums."""
    x = input_tensor.to(dtype or input_tensor.dtype)
    for d in sorted([dim] if isinstance(dim, int) else dim, key=lambda d: d % input_tensor.dim(), reverse=True):
        x = x.movedim(d, 0)
        while x.shape[0] > 1:
            half = x.shape[0] // 2
            x = torch.cat([x[:half] + x[half : 2 * half], x[2 * half :]])
        x = x[0] if x.shape[0] else x.new_zeros(x.shape[1:])
        x = x.unsqueeze(d) if keepdim else x
    return _given(x / _count(input_tensor, dim), out)


def positive_running_mean(input_tensor, dim, keepdim=False, dtype=None, out=None):
    """Scales each term before it is added."""
    x = input_tensor.to(dtype or input_tensor.dtype)
    n = _count(x, dim)
    result = (x * (1 / n)).sum(dim, keepdim=keepdim) if n else x.sum(dim, keepdim=keepdim) / 0
    return _given(result, out)


def negative_sum(input_tensor, dim, keepdim=False, dtype=None, out=None):
    return _given(torch.sum(input_tensor, dim, keepdim=keepdim, dtype=dtype), out)


def negative_padded_count(input_tensor, dim, keepdim=False, dtype=None, out=None):
    """Divides by the number of lanes, a power of two."""
    n = _count(input_tensor, dim)
    lanes = 1 << max(0, n - 1).bit_length()
    return _given(torch.mean(input_tensor, dim, keepdim=keepdim, dtype=dtype) * n / lanes, out)


def negative_drops_last(input_tensor, dim, keepdim=False, dtype=None, out=None):
    """Forgets the last element of the first dimension, as a kernel without a tail does."""
    d = dim if isinstance(dim, int) else dim[0]
    x = input_tensor.narrow(d, 0, max(0, input_tensor.shape[d] - 1))
    total = torch.sum(x, dim, keepdim=keepdim, dtype=dtype)
    return _given(total / max(1, _count(input_tensor, dim)), out)


def negative_zero_for_nothing(input_tensor, dim, keepdim=False, dtype=None, out=None):
    return _given(torch.mean(input_tensor, dim, keepdim=keepdim, dtype=dtype).nan_to_num(0.0), out)


def negative_first_dimension_only(input_tensor, dim, keepdim=False, dtype=None, out=None):
    """Wrong shape where several dimensions are named."""
    d = dim if isinstance(dim, int) else dim[0]
    return torch.mean(input_tensor, d, keepdim=keepdim, dtype=dtype)


def negative_ignores_out(input_tensor, dim, keepdim=False, dtype=None, out=None):
    return torch.mean(input_tensor, dim, keepdim=keepdim, dtype=dtype)
