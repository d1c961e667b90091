"""Contraction of two tensors, then the reciprocal square root of every element.

`tensordot_rsqrt(a, b, dims)` computes `1 / sqrt(t)` for every element `t` of the contraction of float32 `a` and `b`:

- `dims` an int `d`: sums over the products along the last `d` dimensions of `a` and the first `d` of `b`, in order;
  with `d = 0` nothing is summed and `t` is the outer product;
- `dims` a pair of lists or tuples of ints: dimension `dims[0][k]` of `a` is paired with `dims[1][k]` of `b`, for every
  `k`; negative values count from the end. Paired dimensions have equal sizes.

The result's dimensions are the remaining ones of `a`, in order, then the remaining ones of `b`; with none left it is a
tensor without dimensions. A sum of zero gives `inf`, a negative sum NaN; a sum over no elements is zero.

`a` and `b` may be non-contiguous or empty. The result is a new float32 tensor with any strides. Products and sums are
float32: TF32 and half precision are not allowed.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("matmul", "fusion")
MAGNITUDES = (-104, 96)

CASES = [
    dict(left=(37, 45), right=(45, 53), dims=1),
    dict(left=(140, 33), right=(33, 150), dims=1),
    dict(left=(3, 17, 20), right=(20, 9, 2), dims=1),
    dict(left=(4, 9, 13), right=(13, 5, 9), dims=([2, 1], [0, 2])),
    dict(left=(131,), right=(131,), dims=1),
    dict(left=(1,), right=(1,), dims=1),
    dict(left=(12, 33), right=(33, 12), dims=([0, 1], [1, 0]), strided=True),
    dict(left=(5, 6, 7), right=(6, 7, 11), dims=2),
    dict(left=(10, 6, 3), right=(8, 2, 10), dims=((-3,), (-1,))),
    dict(left=(13,), right=(5,), dims=0),
    dict(left=(18, 23), right=(23, 16), dims=1, negative=True),
    dict(left=(19, 21), right=(21, 17), dims=1, zeros=True),
    dict(left=(3, 0), right=(0, 4), dims=1),
    dict(left=(0, 8), right=(8, 5), dims=[[1], [0]]),
]

SIZES = [
    dict(left=(32, 32), right=(32, 32), dims=1),
    dict(left=(256, 256), right=(256, 256), dims=1),
    dict(left=(2048, 2048), right=(2048, 2048), dims=1),
    dict(left=(2048, 64, 32), right=(64, 32, 2048), dims=([1, 2], [0, 1])),
    dict(left=(64, 2048, 64), right=(64, 4096, 64), dims=([0, 2], [2, 0])),
]

# A sum of thousands of products in order errs more than PyTorch's, which may add up a tree: four times the usual room.
CONTRACT = Close(growth=4)


def tensordot_rsqrt(a: torch.Tensor, b: torch.Tensor, dims) -> torch.Tensor:
    return torch.rsqrt(torch.tensordot(a, b, dims=dims))


def inputs(make, left, right, dims, strided=False, negative=False, zeros=False):
    """No sum is close to zero unless it is zero: the sign of every other one is certain in any order of summation."""
    low = 0.0 if zeros else 0.1 if negative else 0.005
    x, y = make.floats(*left, low=low), make.floats(*right, low=low)
    if negative:
        x[::2] *= -1
    return call(*((make.strided(t) if strided else t) for t in (x, y)), dims)


def _matrices(a, b, dims):
    """Both as matrices with the paired dimensions in the middle, and the result's shape."""
    paired = (range(-dims, 0), range(dims)) if isinstance(dims, int) else dims
    left, right = ([d % t.dim() for d in ds] for ds, t in zip(paired, (a, b), strict=True))
    rows, columns = ([d for d in range(t.dim()) if d not in ds] for t, ds in ((a, left), (b, right)))
    k = int(torch.Size(a.shape[d] for d in left).numel())
    m, n = ([t.shape[d] for d in ds] for t, ds in ((a, rows), (b, columns)))
    matrix = a.permute(*rows, *left).reshape(torch.Size(m).numel(), k)
    return matrix, b.permute(*right, *columns).reshape(k, torch.Size(n).numel()), (*m, *n)


def positive_outer_products(a, b, dims):
    """One product after the other, and the root's reciprocal in two steps."""
    x, y, shape = _matrices(a, b, dims)
    acc = x.new_zeros(x.shape[0], y.shape[1])
    for k in range(x.shape[1]):
        acc += x[:, k : k + 1] * y[k]
    return (1 / acc.sqrt()).reshape(shape)


def positive_split_k(a, b, dims):
    x, y, shape = _matrices(a, b, dims)
    parts = zip(x.tensor_split(4, 1), y.tensor_split(4, 0), strict=True)
    return sum(p @ q for p, q in parts).rsqrt().reshape(shape)


def negative_pairs_swapped(a, b, dims):
    """Pairs b's dimensions in reverse order: the right sizes only where all of them agree."""
    if isinstance(dims, int) or len(dims[0]) < 2 or a.shape[dims[0][0]] != a.shape[dims[0][1]]:
        x, y, shape = _matrices(a, b, dims)
        return (x @ y.reshape(y.shape[1], y.shape[0]).T).rsqrt().reshape(shape)
    return tensordot_rsqrt(a, b, (dims[0], dims[1][::-1]))


def negative_sqrt(a, b, dims):
    return torch.tensordot(a, b, dims=dims).sqrt()


def negative_rsqrt_first(a, b, dims):
    return torch.tensordot(a.rsqrt(), b.rsqrt(), dims=dims)


def negative_clamped(a, b, dims):
    """Guards the root with a small constant: no inf, no NaN."""
    return torch.tensordot(a, b, dims=dims).clamp(min=1e-12).rsqrt()


def negative_tf32(a, b, dims):
    """Drops the 13 low bits of the mantissa, as a TF32 tensor core reads its operands."""
    x, y = ((t.contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32) for t in (a, b))
    return tensordot_rsqrt(x, y, dims)
