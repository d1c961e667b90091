"""One-dimensional average pooling.

`avg_pool1d(input, kernel_size, stride=None, padding=0)`

`input` is float32 of shape `(N, C, L)` or `(C, L)`. It is padded with `padding` zeros on both sides; the result has
`L_out = (L + 2·padding - kernel_size) // stride + 1` places, and place `i` is the sum of the `kernel_size` padded elements
from `i · stride` on, *divided by `kernel_size`*: padding zeros count. Elements beyond the last whole window are dropped.

`kernel_size`, `stride` and `padding` are ints or tuples of one int; `stride=None` means `kernel_size`;
`padding ≤ kernel_size / 2`. `input` may be non-contiguous, `N` may be 0. The result is a new float32 tensor with
any strides.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("pooling", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(2, 3, 66), kernel_size=3),
    dict(shape=(5, 4, 68), kernel_size=2),
    dict(shape=(2, 7, 46), kernel_size=4, stride=2),
    dict(shape=(1, 3, 1031), kernel_size=3, stride=1, padding=1),
    dict(shape=(3, 5, 33), kernel_size=4, stride=1, padding=1),
    dict(shape=(1, 1, 1), kernel_size=3, stride=1, padding=1),
    dict(shape=(2, 3, 67), kernel_size=3),
    dict(shape=(3, 5, 33), kernel_size=4, stride=1, padding=2),
    dict(shape=(2, 7, 45), kernel_size=5, stride=2),
    dict(shape=(2, 7, 51), kernel_size=2, stride=7),
    dict(shape=(1, 3, 40), kernel_size=(4,), stride=(2,), padding=(1,)),
    dict(shape=(2, 7, 46), kernel_size=4, stride=2, strided=True),
    dict(shape=(5, 50), kernel_size=2),
    dict(shape=(0, 4, 10), kernel_size=2),
]

SIZES = [
    dict(shape=(2, 64, 1024), kernel_size=4, stride=2, padding=1),
    dict(shape=(16, 64, 8192), kernel_size=4, stride=2, padding=1),
    dict(shape=(64, 64, 32768), kernel_size=4, stride=2, padding=1),
    dict(shape=(64, 96, 32768), kernel_size=3, stride=1, padding=1),
]

CONTRACT = Close(strides="any")


def avg_pool1d(input, kernel_size, stride=None, padding=0):
    return F.avg_pool1d(input, kernel_size, stride, padding)


def inputs(make, shape, kernel_size, stride=None, padding=0, strided=False):
    x = make.floats(*shape)
    return call(make.strided(x) if strided else x, kernel_size, stride=stride, padding=padding)


def _int(value):
    return value[0] if isinstance(value, tuple) else value


def _windows(input, kernel_size, stride, padding):
    """``(…, L_out, kernel_size)``, padded with zeros."""
    padded = F.pad(input, (_int(padding), _int(padding)))
    return padded.unfold(-1, _int(kernel_size), _int(kernel_size if stride is None else stride))


def positive_windows(input, kernel_size, stride=None, padding=0):
    return (_windows(input, kernel_size, stride, padding) / _int(kernel_size)).flip(-1).sum(-1)


def negative_padding_not_counted(input, kernel_size, stride=None, padding=0):
    total = _windows(input, kernel_size, stride, padding).sum(-1)
    return total / _windows(torch.ones_like(input), kernel_size, stride, padding).sum(-1)


def negative_stride_one_by_default(input, kernel_size, stride=None, padding=0):
    return F.avg_pool1d(input, kernel_size, 1 if stride is None else stride, padding)


def negative_max(input, kernel_size, stride=None, padding=0):
    return _windows(input, kernel_size, stride, padding).amax(-1)


def negative_edge_padding(input, kernel_size, stride=None, padding=0):
    """Clamps the address at the border where the border counts as zero."""
    if input.numel() == 0:
        return F.avg_pool1d(input, kernel_size, stride, padding)
    place = torch.arange(-_int(padding), input.shape[-1] + _int(padding), device=input.device)
    padded = input[..., place.clamp(0, input.shape[-1] - 1)]
    return F.avg_pool1d(padded, kernel_size, stride)


def negative_partial_window_kept(input, kernel_size, stride=None, padding=0):
    return F.avg_pool1d(input, kernel_size, stride, padding, ceil_mode=True)
