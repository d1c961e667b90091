"""Two-dimensional average pooling to a given output size, then the logistic function.

`fused_sigmoid_adaptive_avg_pool2d(input, output_size)`

`input` is float32 of shape `(N, C, H, W)` or `(C, H, W)`. `output_size` is an int `S`, meaning `(S, S)`, or a pair of
ints `(OH, OW)`. The result is `(N, C, OH, OW)` or `(C, OH, OW)`:

    mean[…, i, j] = mean of input[…, rows, columns],
    rows    = floor(i·H / OH) … ceil((i + 1)·H / OH) - 1,
    columns = floor(j·W / OW) … ceil((j + 1)·W / OW) - 1,
    out = 1 / (1 + exp(-mean)).

Where `OH` does not divide `H`, neighbouring windows overlap and differ in size; `OH` may exceed `H`. The mean comes
first: the mean of logistic values is something else. Means reach several thousand, where the result is 0 or 1 and
must not become NaN. `input` may be non-contiguous, `N` may be 0. The result is a new float32 tensor with any strides.
Sums are float32, and errors are counted relative to 1: `(1 + tanh(x / 2)) / 2` is accurate enough.
"""
# ruff: noqa: UP006, UP007, UP035

from typing import Tuple, Union

import torch
import torch.nn.functional as F
from torch import Tensor

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("pooling", "reduction", "fusion", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(2, 3, 12, 18), output_size=(4, 6)),
    dict(shape=(3, 4, 35, 29), output_size=(1, 1)),
    dict(shape=(1, 2, 6, 37), output_size=(3, 37)),
    dict(shape=(2, 5, 15, 10), output_size=5),
    dict(shape=(1, 7, 7, 15), output_size=(7, 3)),
    dict(shape=(1, 1, 1, 1), output_size=1),
    dict(shape=(2, 3, 11, 17), output_size=(4, 7)),
    dict(shape=(1, 2, 5, 4), output_size=(8, 9)),
    dict(shape=(3, 15, 10), output_size=5),
    dict(shape=(1, 2, 6, 37), output_size=(3, 37), strided=True),
    dict(shape=(2, 3, 8, 10), output_size=(4, 10), gain=300.0),
    dict(shape=(0, 4, 9, 9), output_size=3),
]

SIZES = [
    dict(shape=(2, 2, 64, 64), output_size=(32, 32)),
    dict(shape=(16, 64, 56, 56), output_size=7),
    dict(shape=(64, 512, 64, 64), output_size=1),
    dict(shape=(16, 64, 250, 250), output_size=(50, 50)),
    dict(shape=(2, 2, 6144, 6144), output_size=(1536, 1536)),
]


def magnitude(input, output_size):
    """The rounding of a mean goes through the slope of the logistic function; where that is flat, 1 counts, as tanh rounds to it."""
    mean = F.adaptive_avg_pool2d(input.double(), output_size)
    slope = torch.sigmoid(mean) * (1 - torch.sigmoid(mean))
    return torch.where(mean.isfinite(), 1 + slope * F.adaptive_avg_pool2d(input.double().abs(), output_size), 1.0)


CONTRACT = Close(scale=magnitude)


def fused_sigmoid_adaptive_avg_pool2d(input: Tensor, output_size: Union[int, Tuple[int, int]]) -> Tensor:
    return torch.sigmoid(F.adaptive_avg_pool2d(input, output_size))


def inputs(make, shape, output_size, gain=1.0, strided=False):
    x = make.floats(*shape) * gain
    return call(make.strided(x) if strided else x, output_size)


def _sizes(output_size):
    return (output_size, output_size) if isinstance(output_size, int) else output_size


def _shares(size, parts, like, last=lambda i, size, parts: -(-(i + 1) * size // parts)):
    """``(parts, size)``: what each element contributes to each part."""
    i, place = torch.arange(parts, device=like.device)[:, None], torch.arange(size, device=like.device)
    first, end = i * size // parts, last(i, size, parts)
    return ((place >= first) & (place < end)).to(like.dtype) / (end - first)


def _pooled(input, output_size, **options):
    sizes = zip(input.shape[-2:], _sizes(output_size), strict=True)
    down, across = (_shares(n, parts, input, **options) for n, parts in sizes)
    return down @ (input @ across.mT)


def positive_matrices(input, output_size):
    """Columns, then rows, each by a matrix of shares; the logistic function through tanh."""
    return 0.5 + 0.5 * torch.tanh(0.5 * _pooled(input, output_size))


def negative_sigmoid_first(input, output_size):
    return F.adaptive_avg_pool2d(torch.sigmoid(input), output_size)


def negative_overflows(input, output_size):
    e = torch.exp(F.adaptive_avg_pool2d(input, output_size))
    return e / (1 + e)


def negative_no_sigmoid(input, output_size):
    return F.adaptive_avg_pool2d(input, output_size)


def negative_rounded_down_end(input, output_size):
    """Windows that never overlap: each ends where the next begins."""
    return torch.sigmoid(
        _pooled(input, output_size, last=lambda i, n, p: torch.maximum((i + 1) * n // p, i * n // p + 1))
    )


def negative_equal_windows(input, output_size):
    """All windows as large as the first."""
    return torch.sigmoid(_pooled(input, output_size, last=lambda i, n, p: i * n // p + -(-n // p)))


def negative_swapped_sizes(input, output_size):
    return torch.sigmoid(F.adaptive_avg_pool2d(input, _sizes(output_size)[::-1]))
