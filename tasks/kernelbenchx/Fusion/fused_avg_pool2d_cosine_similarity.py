"""Cosine similarity of two images' channels at every pixel, then two-dimensional average pooling of that map.

`fused_avg_pool2d_cosine_similarity(x1, x2, kernel_size, stride=None, padding=0, eps=1e-8)`

`x1` and `x2` are float32 of one shape `(N, C, H, W)`; `kernel_size` `k`, `stride` `s` (`None`: `k`) and `padding`
`p ≤ k / 2` are ints that hold for both directions.

1. `c[n, y, x] = sum over channels of x1 · x2 / (max(‖x1‖, eps) · max(‖x2‖, eps))`, with the Euclidean norms of the
   pixel's channels. Each norm has its own lower bound; a pixel that is zero in all channels has similarity 0.
2. The map, as one channel, is padded with `p` zeros on all sides. The result is `(N, 1, OH, OW)` with
   `OH = (H + 2p - k) // s + 1`, `OW` alike, and each place is the sum of its `k × k` window *divided by `k²`*: padding
   zeros count. Rows and columns beyond the last whole window are dropped.

`x1` and `x2` may be non-contiguous or expanded, `N` may be 0. The result is a new float32 tensor with any strides.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("pooling", "reduction", "fusion", "memory-bound")
MAGNITUDES = (-52, 56)

CASES = [
    dict(shape=(2, 5, 8, 10), kernel_size=2),
    dict(shape=(3, 7, 11, 9), kernel_size=2, stride=1),
    dict(shape=(1, 19, 6, 8), kernel_size=2, padding=1, eps=1e-6),
    dict(shape=(2, 3, 4, 14), kernel_size=2, stride=2, padding=1),
    dict(shape=(1, 67, 7, 5), kernel_size=2, stride=1, padding=1),
    dict(shape=(1, 1, 1, 1), kernel_size=2, stride=1, padding=1),
    dict(shape=(2, 5, 9, 12), kernel_size=3),
    dict(shape=(2, 5, 9, 11), kernel_size=2),
    dict(shape=(1, 13, 6, 8), kernel_size=2, strided=True),
    dict(shape=(2, 3, 8, 6), kernel_size=2, eps=2.0),
    dict(shape=(2, 4, 6, 8), kernel_size=2, expanded=True),
    dict(shape=(2, 6, 4, 8), kernel_size=2, dark=True),
    dict(shape=(0, 4, 10, 10), kernel_size=2),
]

SIZES = [
    dict(shape=(16, 64, 16, 16), kernel_size=2),
    dict(shape=(16, 64, 128, 128), kernel_size=2),
    dict(shape=(16, 512, 28, 28), kernel_size=2, stride=1, padding=1),
    dict(shape=(16, 64, 256, 256), kernel_size=2),
]


def magnitude(x1, x2, kernel_size, stride=None, padding=0, eps=1e-8):
    """Products of both signs cancel in the sum over channels, similarities in the mean over the window."""
    sizes = F.cosine_similarity(x1.double().abs(), x2.double().abs(), dim=1, eps=eps).unsqueeze(1)
    return F.avg_pool2d(sizes, kernel_size, stride, padding)


CONTRACT = Close(scale=magnitude)


def fused_avg_pool2d_cosine_similarity(
    x1: torch.Tensor, x2: torch.Tensor, kernel_size: int, stride: int = None, padding: int = 0, eps: float = 1e-08
) -> torch.Tensor:
    similarity = F.cosine_similarity(x1, x2, dim=1, eps=eps)
    return F.avg_pool2d(similarity.unsqueeze(1), kernel_size, stride, padding)


def inputs(make, shape, kernel_size, strided=False, expanded=False, dark=False, **options):
    x, y = make.floats(*shape), make.floats(*shape)
    if dark:
        x = x * make.bools(shape[0], 1, *shape[2:])
    if expanded:
        y = make.expanded(y[:1], *shape)
    if strided:
        x, y = make.strided(x), make.strided(y)
    return call(x, y, kernel_size, **options)


def _similarity(x1, x2, eps):
    lengths = [x.square().sum(1).sqrt().clamp(min=eps) for x in (x1, x2)]
    return (x1 * x2).flip(1).sum(1) / (lengths[0] * lengths[1])


def _pooled(c, kernel_size, stride, padding):
    """Rows, then columns, each by windows; padding zeros count."""
    stride = kernel_size if stride is None else stride
    padded = F.pad(c, (padding,) * 4)
    rows = padded.unfold(1, kernel_size, stride).sum(-1) / kernel_size
    return (rows.unfold(2, kernel_size, stride).sum(-1) / kernel_size).unsqueeze(1)


def positive_written_out(x1, x2, kernel_size, stride=None, padding=0, eps=1e-08):
    return _pooled(_similarity(x1, x2, eps), kernel_size, stride, padding)


def negative_pooled_first(x1, x2, kernel_size, stride=None, padding=0, eps=1e-08):
    pooled = (F.avg_pool2d(x, kernel_size, stride, padding) for x in (x1, x2))
    return F.cosine_similarity(*pooled, dim=1, eps=eps).unsqueeze(1)


def negative_no_lower_bound(x1, x2, kernel_size, stride=None, padding=0, eps=1e-08):
    lengths = [x.square().sum(1).sqrt() for x in (x1, x2)]
    return _pooled((x1 * x2).sum(1) / (lengths[0] * lengths[1]), kernel_size, stride, padding)


def negative_bound_on_the_product(x1, x2, kernel_size, stride=None, padding=0, eps=1e-08):
    lengths = x1.square().sum(1).sqrt() * x2.square().sum(1).sqrt()
    return _pooled((x1 * x2).sum(1) / lengths.clamp(min=eps), kernel_size, stride, padding)


def negative_eps_added(x1, x2, kernel_size, stride=None, padding=0, eps=1e-08):
    lengths = [x.square().sum(1).sqrt() + eps for x in (x1, x2)]
    return _pooled((x1 * x2).sum(1) / (lengths[0] * lengths[1]), kernel_size, stride, padding)


def negative_dot_product(x1, x2, kernel_size, stride=None, padding=0, eps=1e-08):
    return _pooled((x1 * x2).sum(1), kernel_size, stride, padding)


def negative_padding_not_counted(x1, x2, kernel_size, stride=None, padding=0, eps=1e-08):
    c = _similarity(x1, x2, eps).unsqueeze(1)
    return F.avg_pool2d(c, kernel_size, stride, padding, count_include_pad=False)


def negative_stride_one_by_default(x1, x2, kernel_size, stride=None, padding=0, eps=1e-08):
    return _pooled(_similarity(x1, x2, eps), kernel_size, stride or 1, padding)


def negative_no_channel_dimension(x1, x2, kernel_size, stride=None, padding=0, eps=1e-08):
    return _pooled(_similarity(x1, x2, eps), kernel_size, stride, padding).squeeze(1)
