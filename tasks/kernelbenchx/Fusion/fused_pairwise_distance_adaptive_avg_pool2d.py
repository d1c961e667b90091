"""Distance of two images after average pooling to a given size, image by image.

`fused_pairwise_distance_adaptive_avg_pool2d(x1, x2, output_size, p=2.0, eps=1e-6, keepdim=False)`

`x1` and `x2` are float32 of one shape `(N, C, H, W)`. `output_size` is an int `S`, meaning `(S, S)`, or a pair
`(OH, OW)`, where `None` keeps the input's size along that dimension.

1. Each image is averaged over windows to `(N, C, OH, OW)`: place `(i, j)` is the mean over the rows
   `floor(i·H / OH) … ceil((i + 1)·H / OH) - 1` and the columns `floor(j·W / OW) … ceil((j + 1)·W / OW) - 1`. Where `OH`
   does not divide `H`, neighbouring windows overlap and differ in size; `OH` may exceed `H`.
2. `d` = the difference of the two; `norm[n] = (sum of |d|^p)^(1/p)` over all `C · OH · OW` elements of `d[n]`;
   `p = inf`: the largest `|d|`; `p = 0`: how many elements differ from 0. Other `p` are positive.
3. The result is `norm + eps`: `eps` is added at the end, to the finished norm. It has shape `(N,)`, or `(N, 1, 1, 1)`
   with `keepdim`.

`x1` and `x2` may be non-contiguous or expanded, `N` may be 0. The result is a new float32 tensor with any strides.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("pooling", "reduction", "fusion", "memory-bound")
MAGNITUDES = (-104, 56)

CASES = [
    dict(shape=(5, 3, 12, 18), output_size=(4, 6)),
    dict(shape=(7, 3, 12, 15), output_size=(4, 5), keepdim=True),
    dict(shape=(3, 2, 15, 10), output_size=(5, 5), p=1.0, keepdim=False),
    dict(shape=(3, 4, 35, 29), output_size=(1, 1)),
    dict(shape=(2, 5, 7, 37), output_size=(7, 37), p=1.0, keepdim=True),
    dict(shape=(1, 1, 1, 1), output_size=(1, 1)),
    dict(shape=(5, 3, 12, 9), output_size=(4, 3), eps=0.5),
    dict(shape=(7, 3, 11, 17), output_size=(4, 7)),
    dict(shape=(3, 2, 15, 10), output_size=(3, 5), strided=True),
    dict(shape=(4, 5, 7, 10), output_size=(None, 5), p=3.5),
    dict(shape=(6, 2, 5, 4), output_size=(8, 9), p=float("inf"), expanded=True),
    dict(shape=(3, 2, 6, 8), output_size=(3, 4), p=0, half_equal=True),
    dict(shape=(0, 4, 10, 10), output_size=5),
]

SIZES = [
    dict(shape=(16, 3, 16, 16), output_size=(8, 8)),
    dict(shape=(16, 3, 512, 512), output_size=(256, 256)),
    dict(shape=(64, 256, 56, 56), output_size=(7, 7), p=1.0),
    dict(shape=(16, 3, 1280, 1280), output_size=(640, 640)),
]


def magnitude(x1, x2, output_size, p=2.0, eps=1e-6, keepdim=False):
    """What is left of the difference of two means carries the rounding of their terms."""
    if p == 0 or not x1.numel():
        return 0.0
    terms = F.adaptive_avg_pool2d(x1.double().abs() + x2.double().abs(), output_size)
    return torch.linalg.vector_norm(terms, p, dim=(1, 2, 3), keepdim=keepdim)


CONTRACT = Close(scale=magnitude)


def fused_pairwise_distance_adaptive_avg_pool2d(
    x1: torch.Tensor,
    x2: torch.Tensor,
    output_size: int or tuple,
    p: float = 2.0,
    eps: float = 1e-06,
    keepdim: bool = False,
) -> torch.Tensor:
    d = F.adaptive_avg_pool2d(x1, output_size) - F.adaptive_avg_pool2d(x2, output_size)
    return torch.linalg.vector_norm(d, p, dim=(1, 2, 3), keepdim=keepdim) + eps


def inputs(make, shape, output_size, strided=False, expanded=False, half_equal=False, **options):
    x, y = make.floats(*shape), make.floats(*shape)
    if half_equal:
        y[:, :, : shape[2] // 2] = x[:, :, : shape[2] // 2]
    if expanded:
        y = make.expanded(y[:1], *shape)
    if strided:
        x, y = make.strided(x), make.strided(y)
    return call(x, y, output_size, **options)


def _shares(size, parts, like, last=lambda i, size, parts: -(-(i + 1) * size // parts)):
    """``(parts, size)``: what each element contributes to each part."""
    parts = size if parts is None else parts
    i, place = torch.arange(parts, device=like.device)[:, None], torch.arange(size, device=like.device)
    first, end = i * size // parts, last(i, size, parts)
    return ((place >= first) & (place < end)).to(like.dtype) / (end - first)


def _pooled(input, output_size, **options):
    sizes = (output_size, output_size) if isinstance(output_size, int) else output_size
    down, across = (_shares(n, m, input, **options) for n, m in zip(input.shape[-2:], sizes, strict=True))
    return down @ (input @ across.mT)


def _norm(d, p, keepdim):
    size = d.abs()
    if p == 0:
        return (size != 0).to(d.dtype).sum((1, 2, 3), keepdim=keepdim)
    if p == float("inf"):
        return size.amax((1, 2, 3), keepdim=keepdim)
    return (size**p).flip(3).sum((1, 2, 3), keepdim=keepdim) ** (1 / p)


def positive_pooled_difference(x1, x2, output_size, p=2.0, eps=1e-06, keepdim=False):
    """Pooling is linear: the difference may come first."""
    return _norm(_pooled(x1 - x2, output_size), p, keepdim) + eps


def negative_eps_inside(x1, x2, output_size, p=2.0, eps=1e-06, keepdim=False):
    """Adds eps to the difference, as a plain pairwise distance does."""
    d = F.adaptive_avg_pool2d(x1, output_size) - F.adaptive_avg_pool2d(x2, output_size)
    return _norm(d + eps, p, keepdim)


def negative_no_eps(x1, x2, output_size, p=2.0, eps=1e-06, keepdim=False):
    d = F.adaptive_avg_pool2d(x1, output_size) - F.adaptive_avg_pool2d(x2, output_size)
    return _norm(d, p, keepdim)


def negative_always_euclidean(x1, x2, output_size, p=2.0, eps=1e-06, keepdim=False):
    d = F.adaptive_avg_pool2d(x1, output_size) - F.adaptive_avg_pool2d(x2, output_size)
    return _norm(d, 2.0, keepdim) + eps


def negative_no_root(x1, x2, output_size, p=2.0, eps=1e-06, keepdim=False):
    d = F.adaptive_avg_pool2d(x1, output_size) - F.adaptive_avg_pool2d(x2, output_size)
    return (d.abs() ** min(p, 9)).sum((1, 2, 3), keepdim=keepdim) + eps


def negative_distance_of_rows(x1, x2, output_size, p=2.0, eps=1e-06, keepdim=False):
    d = F.adaptive_avg_pool2d(x1, output_size) - F.adaptive_avg_pool2d(x2, output_size)
    return torch.linalg.vector_norm(d, p, dim=-1, keepdim=keepdim) + eps


def negative_ignores_keepdim(x1, x2, output_size, p=2.0, eps=1e-06, keepdim=False):
    d = F.adaptive_avg_pool2d(x1, output_size) - F.adaptive_avg_pool2d(x2, output_size)
    return _norm(d, p, False) + eps


def negative_rounded_down_end(x1, x2, output_size, p=2.0, eps=1e-06, keepdim=False):
    """Windows that never overlap: each ends where the next begins."""
    d = _pooled(x1 - x2, output_size, last=lambda i, n, m: torch.maximum((i + 1) * n // m, i * n // m + 1))
    return _norm(d, p, keepdim) + eps


def negative_not_pooled(x1, x2, output_size, p=2.0, eps=1e-06, keepdim=False):
    return _norm(x1 - x2, p, keepdim) + eps
