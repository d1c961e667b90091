"""Resizes images, signals and volumes.

`interpolate(input, size=None, scale_factor=None, mode='nearest', align_corners=None)`

`input` is float32 `(N, C, L)`, `(N, C, H, W)` or `(N, C, D, H, W)`. Exactly one of `size` and `scale_factor` is given:
a number for all spatial dimensions, or a tuple with one number each. With `scale_factor` `f` an axis of `n` elements
gets `floor(n · f)` places. The axes are resized independently of each other; along one of `n` elements and `m` places,
place `i` of the result reads as follows, with `s = 1 / f` if a factor was given and `s = n / m` otherwise:

| `mode` | ranks | value |
|---|---|---|
| `'nearest'` | 3, 4, 5 | element `floor(i · s)`, at most `n - 1` |
| `'linear'`, `'bilinear'`, `'trilinear'` | 3, 4, 5 | `(1 - t) · x[a] + t · x[min(a + 1, n - 1)]` |
| `'bicubic'` | 4 | `sum over k = -1 … 2 of w(abs(t - k)) · x[clamp(a + k, 0, n - 1)]` |

with `a = floor(u)`, `t = u - a` and the coordinate `u = (i + 1/2) · s - 1/2`, for the linear modes at least 0 (for
`'bicubic'` it may be negative), or, if `align_corners` is true, `u = i · (n - 1) / (m - 1)` (0 for `m = 1`), whatever
the factor. `w` is the cubic convolution kernel for `A = -0.75`: `w(d) = (A + 2) d³ - (A + 3) d² + 1` for `d ≤ 1`, else
`A d³ - 5 A d² + 8 A d - 4 A`. `align_corners` is `None` (as `False`) or a bool with the linear modes and `'bicubic'`,
and `None` with `'nearest'`.

Sizes and factors are such that no product under the `floor` of `'nearest'` lies on a whole number by anything but
exact arithmetic. `input` may be non-contiguous, `N` may be 0. The result is a new float32 tensor with any strides.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("spatial", "interpolation", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(2, 3, 7, 9), size=(10, 19)),
    dict(shape=(3, 1, 31, 67), size=(64, 101)),
    dict(shape=(1, 3, 6, 7), scale_factor=2.0, mode="bilinear", align_corners=False),
    dict(shape=(2, 3, 9, 17), size=(11, 30), mode="bilinear"),
    dict(shape=(1, 2, 8, 7), size=(13, 12), mode="bicubic", align_corners=False),
    dict(shape=(1, 1, 1, 1), size=(1, 1)),
    dict(shape=(1, 3, 6, 7), size=(11, 5), mode="bilinear", strided=True),
    dict(shape=(2, 3, 19), scale_factor=2.0),
    dict(shape=(1, 2, 3, 5, 4), scale_factor=2.0),
    dict(shape=(1, 2, 11, 13), scale_factor=(1.37, 0.63)),
    dict(shape=(2, 3, 17), size=29, mode="linear"),
    dict(shape=(1, 3, 6, 7), size=(9, 1), mode="bilinear", align_corners=True),
    dict(shape=(2, 2, 9, 8), scale_factor=(0.7, 1.8), mode="bilinear"),
    dict(shape=(1, 2, 5, 6), size=(8, 4), mode="bicubic", align_corners=True),
    dict(shape=(1, 1, 4, 3, 5), scale_factor=(1.6, 2, 0.7), mode="trilinear", align_corners=True),
    dict(shape=(0, 3, 4, 4), size=(6, 6), mode="bilinear"),
]

SIZES = [
    dict(shape=(2, 3, 32, 32), size=(64, 64), mode="bilinear"),
    dict(shape=(16, 3, 256, 256), size=(512, 512), mode="bilinear"),
    dict(shape=(16, 16, 512, 512), scale_factor=2),
    dict(shape=(16, 3, 512, 512), size=(1024, 1024), mode="bicubic"),
    dict(shape=(16, 8, 512, 512), size=(1024, 1024), mode="bilinear"),
]


def magnitude(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """A coordinate is rounded in proportion to the image's size, and its error meets the steps between pixels."""
    return float(input.double().abs().max()) * max(input.shape[2:]) / 4 if input.numel() and mode != "nearest" else 0.0


CONTRACT = Close(scale=magnitude)


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    return F.interpolate(input, size, scale_factor, mode, align_corners)


def inputs(make, shape, size=None, scale_factor=None, mode="nearest", align_corners=None, strided=False):
    x = make.floats(*shape)
    x = make.strided(x) if strided else x
    return call(x, size=size, scale_factor=scale_factor, mode=mode, align_corners=align_corners)


def _axes(input, size, scale_factor):
    """Elements, places and step of each spatial axis."""
    spatial = input.shape[2:]
    if size is not None:
        sizes = (size,) * len(spatial) if isinstance(size, int) else size
        return [(n, m, n / m) for n, m in zip(spatial, sizes, strict=True)]
    factors = scale_factor if isinstance(scale_factor, tuple) else (scale_factor,) * len(spatial)
    return [(n, int(n * f), 1 / f) for n, f in zip(spatial, factors, strict=True)]


def _cubic(d, a):
    far = a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a
    return torch.where(d <= 1, (a + 2) * d**3 - (a + 3) * d**2 + 1, torch.where(d < 2, far, 0.0))


def _weights(n, m, s, mode, align_corners, like, a=-0.75, half=0.0, extrapolate=False):
    """``(m, n)``: what each element contributes to each place."""
    i, place = torch.arange(m, device=like.device)[:, None], torch.arange(n, device=like.device)
    if mode == "nearest":
        return (place == ((i + half) * s).floor().clamp(max=n - 1)).to(like.dtype)
    u = i * (n - 1) / max(m - 1, 1) if align_corners else (i.to(like.dtype) + 0.5) * s - 0.5
    if mode != "bicubic":
        u = (u if extrapolate else u.clamp(min=0)).clamp(max=n - 1)
        return (1 - (u - place).abs()).clamp(min=0)
    taps = u.floor() + torch.arange(-1, 3, device=like.device)
    weights = _cubic((u - taps).abs(), a).to(like.dtype)
    return like.new_zeros(m, n).scatter_add_(1, taps.clamp(0, n - 1).long(), weights)


def _resized(input, size, scale_factor, mode, align_corners, step=None, **options):
    for axis, (n, m, s) in enumerate(_axes(input, size, scale_factor), 2):
        weights = _weights(n, m, step(n, m, s) if step else s, mode, align_corners, input, **options)
        input = torch.tensordot(input, weights, dims=([axis], [1])).movedim(-1, axis)
    return input


def positive_matrices(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """One matrix of weights for each axis."""
    return _resized(input, size, scale_factor, mode, align_corners)


def negative_step_from_sizes(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """Forgets a factor that does not divide evenly."""
    return _resized(input, size, scale_factor, mode, align_corners, step=lambda n, m, s: n / m)


def negative_never_aligned(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    return _resized(input, size, scale_factor, mode, False)


def negative_always_aligned(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    return _resized(input, size, scale_factor, mode, True)


def negative_other_cubic(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """A = -0.5, as in many image libraries."""
    return _resized(input, size, scale_factor, mode, align_corners, a=-0.5)


def negative_no_clamp_at_zero(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """Pixels outside count as zero where the first element should be repeated."""
    return _resized(input, size, scale_factor, mode, align_corners, extrapolate=True)


def negative_centre_of_place(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """The element under the middle of a place, floor((i + 1/2) · s)."""
    return _resized(input, size, scale_factor, mode, align_corners, half=0.5)


def negative_always_nearest(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    return F.interpolate(input, size, scale_factor)
