"""Sums along some dimensions, then the standard deviation of all those sums.

`fused_sum_std(input, dim=None, keepdim=False, dtype=None, correction=1, out=None)`

1. `s = sum(input, dim)`. `dim` is an int, a tuple of ints, or `None` for all dimensions; negative values count from the
   end. If `dtype` is given, `input` is converted to it *before* the summation, and the result has it. `input` is a
   float32 tensor, or an integer tensor with a floating-point `dtype`. A sum over no elements is 0.
2. Over *all* `N` elements of `s`, with mean `m`, the result is `sqrt(Σ (s - m)² / (N - correction))`, a single number.
   `correction` is an int: 1 for the sample's deviation, 0 for the population's. If it is not less than `N`, the result
   is 0; so it is for `dim=None`, where `N = 1`.

The result has no dimensions; with `keepdim=True` it has as many as `input`, each of size 1. `out` is not given.

Sums may have a mean much larger than their deviation: take off the mean before squaring. `input` may be non-contiguous,
expanded or empty. The result is a new tensor.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("reduction", "memory-bound", "fusion")
SKIP_CONTROLS = {
    "constant": "the result is one number",
    "permuted": "the result is one number",
}

CASES = [
    dict(shape=(13, 29)),
    dict(shape=(17, 35), dim=0, keepdim=True),
    dict(shape=(29,), keepdim=True),
    dict(shape=(45, 67), dim=1, correction=1),
    dict(shape=(19, 131), dim=0),
    dict(shape=(1,)),
    dict(shape=(45, 17), dim=0, correction=0),
    dict(shape=(33, 65), dim=1, strided=True),
    dict(shape=(5, 13, 21), dim=(0, -1), correction=2),
    dict(shape=(5, 13, 21), dim=(0, 2), keepdim=True),
    dict(shape=(13, 35), dim=1, shift=300.0),
    dict(shape=(9, 34), dim=1, dtype=torch.float64),
    dict(shape=(21, 19), dim=0, dtype=torch.float32, integers=True),
    dict(shape=(3, 4), dim=1, correction=3),
    dict(shape=(5, 0), dim=1),
]

SIZES = [
    dict(shape=(64, 64), dim=1),
    dict(shape=(1024, 1024), dim=0),
    dict(shape=(32768, 1024), dim=0, keepdim=True),
    dict(shape=(16384, 16384), dim=1),
]


def magnitude(input, dim=None, keepdim=False, dtype=None, correction=1, out=None):
    """Rounding errors grow with what is added up: the terms of each sum, and the sums themselves."""
    x = input.to(dtype or input.dtype).nan_to_num(0.0, 0.0, 0.0)
    norm = torch.linalg.vector_norm(x, dim=dim)
    return torch.sqrt((norm.square() + x.sum(dim).square()).mean())


CONTRACT = Close(scale=magnitude)


def fused_sum_std(input, dim=None, keepdim=False, dtype=None, correction=1, out=None):
    sums = torch.sum(input, dim, keepdim=keepdim, dtype=dtype)
    if sums.numel() <= correction:
        return sums.new_zeros((1,) * input.dim() if keepdim else ())
    return torch.std(sums, correction=correction, keepdim=keepdim)


def inputs(make, shape, dim=None, keepdim=False, dtype=None, correction=1, shift=0.0, integers=False, strided=False):
    x = make.ints(*shape, low=-100, high=100, dtype=torch.int32) if integers else make.floats(*shape) + shift
    return call(make.strided(x) if strided else x, dim=dim, keepdim=keepdim, dtype=dtype, correction=correction)


def _dims(input, dim):
    return range(input.dim()) if dim is None else (dim,) if isinstance(dim, int) else dim


def _kept(number, input, keepdim):
    """The result as a tensor of ``input``'s dimensions where they are kept."""
    return number.reshape((1,) * input.dim() if keepdim else ())


def positive_sequential(input, dim=None, keepdim=False, dtype=None, correction=1, out=None):
    """One dimension summed after the other in slices; then mean, squares, root."""
    s = input.to(dtype or input.dtype)
    for d in sorted((d % input.dim() for d in _dims(input, dim)), reverse=True):
        total = torch.zeros_like(s.sum(d))
        for part in s.split(16, d):
            total = total + part.sum(d)
        s = total
    squares = (s - s.sum() / s.numel()).square().sum()
    return _kept(torch.sqrt(squares / max(s.numel() - correction, 1)) * (s.numel() > correction), input, keepdim)


def negative_std_then_sum(input, dim=None, keepdim=False, dtype=None, correction=1, out=None):
    x = input.to(dtype or input.dtype)
    return _kept(torch.std(x, dim, correction=correction).sum(), input, keepdim)


def negative_std_of_elements(input, dim=None, keepdim=False, dtype=None, correction=1, out=None):
    return _kept(torch.std(input.to(dtype or input.dtype), correction=correction), input, keepdim)


def negative_means(input, dim=None, keepdim=False, dtype=None, correction=1, out=None):
    x = input.to(dtype or input.dtype)
    return _kept(torch.std(x.mean(dim), correction=correction), input, keepdim)


def negative_mean_of_squares(input, dim=None, keepdim=False, dtype=None, correction=1, out=None):
    """E[s²] - E[s]², in one pass."""
    s = torch.sum(input, dim, dtype=dtype)
    squares = s.square().sum() - s.sum().square() / s.numel()
    return _kept(
        torch.sqrt(squares.clamp(min=0) / max(s.numel() - correction, 1)) * (s.numel() > correction), input, keepdim
    )


def negative_ignores_correction(input, dim=None, keepdim=False, dtype=None, correction=1, out=None):
    s = torch.sum(input, dim, dtype=dtype)
    return _kept(torch.std(s) if s.numel() > 1 else s.new_zeros(()), input, keepdim)


def negative_population(input, dim=None, keepdim=False, dtype=None, correction=1, out=None):
    return _kept(torch.std(torch.sum(input, dim, dtype=dtype), correction=0), input, keepdim)


def negative_nan_without_freedom(input, dim=None, keepdim=False, dtype=None, correction=1, out=None):
    """0 / 0 where there are no more sums than the correction."""
    return _kept(torch.std(torch.sum(input, dim, dtype=dtype), correction=correction), input, keepdim)


def negative_drops_kept_dimensions(input, dim=None, keepdim=False, dtype=None, correction=1, out=None):
    return fused_sum_std(input, dim, False, dtype, correction)


def negative_keeps_one_number_per_sum(input, dim=None, keepdim=False, dtype=None, correction=1, out=None):
    """The shape of the sums, each of them the same deviation."""
    result = fused_sum_std(input, dim, keepdim, dtype, correction)
    return result.expand_as(torch.sum(input, dim, keepdim=True)).clone() if keepdim else result
