"""Two-dimensional average pooling to a given output size.

`adaptive_avg_pool2d(input, output_size)`

`input` is float32 of shape `(N, C, H, W)` or `(C, H, W)`. `output_size` is an int `S`, meaning `(S, S)`, or a pair
`(OH, OW)`, where `None` keeps the input's size along that dimension. The result is `(N, C, OH, OW)` or `(C, OH, OW)`:

    out[…, i, j] = mean of input[…, rows, columns],
    rows    = floor(i·H / OH) … ceil((i + 1)·H / OH) - 1,
    columns = floor(j·W / OW) … ceil((j + 1)·W / OW) - 1.

Where `OH` does not divide `H`, neighbouring windows overlap and differ in size; `OH` may exceed `H`. `input` may be
non-contiguous, `N` may be 0. The result is a new float32 tensor with any strides. Sums are float32.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("pooling", "reduction", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(2, 3, 12, 18), output_size=(4, 6)),
    dict(shape=(2, 3, 11, 17), output_size=(5, 7)),
    dict(shape=(67, 8, 9), output_size=5),
    dict(shape=(7, 13, 9), output_size=(5, 7)),
    dict(shape=(3, 4, 35, 29), output_size=1),
    dict(shape=(1, 1, 1, 1), output_size=1),
    dict(shape=(3, 13, 9), output_size=5, strided=True),
    dict(shape=(2, 5, 7, 10), output_size=(None, 3)),
    dict(shape=(1, 2, 5, 37), output_size=(8, None)),
    dict(shape=(0, 4, 10, 10), output_size=3),
]

SIZES = [
    dict(shape=(1, 3, 256, 256), output_size=(128, 128)),
    dict(shape=(32, 256, 56, 56), output_size=7),
    dict(shape=(64, 512, 64, 64), output_size=1),
    dict(shape=(16, 64, 250, 250), output_size=(60, 60)),
    dict(shape=(1, 3, 8192, 8192), output_size=(4096, 4096)),
]

CONTRACT = Close()


def adaptive_avg_pool2d(input, output_size):
    return F.adaptive_avg_pool2d(input, output_size)


def inputs(make, shape, output_size, strided=False):
    x = make.floats(*shape)
    return call(make.strided(x) if strided else x, output_size)


def _sizes(input, output_size):
    wanted = (output_size, output_size) if isinstance(output_size, int) else output_size
    return [have if want is None else want for have, want in zip(input.shape[-2:], wanted, strict=True)]


def _shares(size, parts, like, last=lambda i, size, parts: -(-(i + 1) * size // parts)):
    """``(parts, size)``: what each element contributes to each part."""
    i, place = torch.arange(parts, device=like.device)[:, None], torch.arange(size, device=like.device)
    first, end = i * size // parts, last(i, size, parts)
    return ((place >= first) & (place < end)).to(like.dtype) / (end - first).clamp(min=1)


def _pooled(input, output_size, **options):
    down, across = (
        _shares(n, p, input, **options) for n, p in zip(input.shape[-2:], _sizes(input, output_size), strict=True)
    )
    return down @ (input @ across.mT)


def positive_matrices(input, output_size):
    """Columns, then rows, each by a matrix of shares."""
    return _pooled(input, output_size)


def negative_rounded_down_end(input, output_size):
    """Windows that never overlap: each ends where the next begins."""
    return _pooled(input, output_size, last=lambda i, n, p: torch.maximum((i + 1) * n // p, i * n // p + 1))


def negative_equal_windows(input, output_size):
    """All windows as large as the first."""
    return _pooled(input, output_size, last=lambda i, n, p: i * n // p + -(-n // p))


def negative_sums(input, output_size):
    down, across = (
        (_shares(n, p, input) > 0).to(input.dtype)
        for n, p in zip(input.shape[-2:], _sizes(input, output_size), strict=True)
    )
    return down @ (input @ across.mT)


def negative_swapped_sizes(input, output_size):
    return F.adaptive_avg_pool2d(input, _sizes(input, output_size)[::-1])


def negative_max(input, output_size):
    return F.adaptive_max_pool2d(input, output_size) if input.numel() else F.adaptive_avg_pool2d(input, output_size)
