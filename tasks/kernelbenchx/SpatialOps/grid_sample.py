"""Samples of images at the places that a grid names.

`grid_sample(input, grid, mode='bilinear', padding_mode='zeros', align_corners=False)`

`input` is float32 `(N, C, H, W)`, `grid` is float32 `(N, H_out, W_out, 2)`, the result `(N, C, H_out, W_out)`. The last
dimension of `grid` is `(x, y)`: `x` runs along `W`, `y` along `H`, both normalized so that the image spans `[-1, 1]`.

1. *Pixel coordinate* along an axis of `size` pixels: `align_corners=True`: `(g + 1) / 2 · (size - 1)`, so that -1 and 1 are
   the centres of the outermost pixels; `align_corners=False`: `((g + 1) · size - 1) / 2`, so that they are the image's edges.
2. *Outside the image*, by `padding_mode`:
   - `'zeros'`: pixels outside have the value 0.
   - `'border'`: the coordinate is clamped to `[0, size - 1]`.
   - `'reflection'`: the coordinate is reflected at the edges, as often as needed, then clamped to `[0, size - 1]`. The edges
     are `0` and `size - 1` with `align_corners=True`, and `-0.5` and `size - 0.5` without.
3. *Interpolation*, by `mode`:
   - `'bilinear'`: the four surrounding pixels, weighted by `1 - distance` along each axis.
   - `'nearest'`: the pixel at the coordinate rounded to the nearest integer. Coordinates stay away from halves here.
   - `'bicubic'`: the 4 × 4 surrounding pixels with cubic convolution weights, `A = -0.75`. Along an axis with `t` the
     coordinate's fraction, the pixels at distance `d = 1 + t, t, 1 - t, 2 - t` have weight
     `(A + 2) d³ - (A + 3) d² + 1` if `d ≤ 1`, else `A d³ - 5 A d² + 8 A d - 4 A`. Here step 2 is applied to the index of
     each of the 16 pixels, not to the coordinate.

`grid` has no NaN or infinity. `input` and `grid` may be non-contiguous; `N` may be 0. The result is a new tensor with any
strides.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("spatial", "gather", "interpolation")
DISTRIBUTIONS = ("standard", "outliers", "small", "zeros")

CASES = [
    dict(shape=(1, 1, 1, 1), places=(1, 1)),
    dict(shape=(2, 3, 7, 9), places=(5, 11)),
    dict(shape=(1, 2, 9, 6), places=(7, 5), align_corners=True, padding_mode="border", strided=True),
    dict(shape=(2, 1, 5, 8), places=(6, 7), padding_mode="reflection"),
    dict(shape=(1, 2, 6, 7), places=(5, 9), mode="nearest"),
    dict(shape=(1, 2, 8, 5), places=(9, 4), mode="nearest", padding_mode="reflection", align_corners=True),
    dict(shape=(1, 2, 8, 9), places=(7, 6), mode="bicubic"),
    dict(shape=(1, 1, 6, 7), places=(5, 8), mode="bicubic", padding_mode="reflection", align_corners=True),
    dict(shape=(0, 2, 4, 4), places=(3, 3)),
]

SIZES = [
    dict(shape=(1, 3, 64, 64), places=(64, 64)),
    dict(shape=(16, 3, 256, 256), places=(256, 256)),
    dict(shape=(16, 3, 1024, 1024), places=(1024, 1024)),
    dict(shape=(14, 16, 1024, 1024), places=(1024, 1024)),
]


def magnitude(input, grid, mode="bilinear", padding_mode="zeros", align_corners=False):
    """A coordinate is rounded in proportion to the image's size, and its error meets the steps between pixels."""
    return float(input.double().abs().max()) * max(input.shape[2:]) / 16 if input.numel() else 0.0


CONTRACT = Close(scale=magnitude, strides="any")


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=False):
    return F.grid_sample(input, grid, mode, padding_mode, align_corners)


def inputs(make, shape, places, mode="bilinear", padding_mode="zeros", align_corners=False, strided=False):
    x, grid = make.floats(*shape), make.plain(shape[0], *places, 2, low=-1.7, high=1.7)
    if mode == "nearest":
        grid = _away_from_halves(grid, shape, align_corners)
    if strided:
        x, grid = make.strided(x), make.strided(grid)
    return call(x, grid, mode=mode, padding_mode=padding_mode, align_corners=align_corners)


def _away_from_halves(grid, shape, align_corners):
    """Draws each pixel coordinate to within 0.3 of a whole number: there rounding has one answer only."""
    size = torch.tensor([shape[3], shape[2]], dtype=grid.dtype, device=grid.device)
    span, shift = (size - 1, 0.0) if align_corners else (size, 0.5)
    pixel = (grid + 1) / 2 * span - shift
    pixel = pixel.round() + 0.6 * (pixel - pixel.round())
    return (pixel + shift) / span * 2 - 1


def _reflected(coordinate, low, high):
    """Triangle wave between ``low`` and ``high``."""
    if high <= low:
        return torch.zeros_like(coordinate)
    phase = (coordinate - low).remainder(2 * (high - low))
    return low + torch.minimum(phase, 2 * (high - low) - phase)


def _inside(coordinate, size, padding_mode, align_corners):
    if padding_mode == "reflection":
        edge = 0.0 if align_corners else 0.5
        coordinate = _reflected(coordinate, -edge, size - 1 + edge)
    return coordinate if padding_mode == "zeros" else coordinate.clamp(0, size - 1)


def _pixels(input, x, y):
    """``input[n, :, y, x]`` for whole coordinates, zero outside."""
    n, _, h, w = input.shape
    inside = (x >= 0) & (x < w) & (y >= 0) & (y < h)
    batch = torch.arange(n, device=input.device).reshape(-1, 1, 1)
    picked = input[batch, :, y.long().clamp(0, h - 1), x.long().clamp(0, w - 1)]
    return picked.permute(0, 3, 1, 2) * inside.unsqueeze(1)


def _cubic(t, offset):
    d = (t - offset).abs()
    near = 1.25 * d**3 - 2.25 * d**2 + 1
    return torch.where(d <= 1, near, -0.75 * d**3 + 3.75 * d**2 - 6 * d + 3)


def positive_gather(input, grid, mode="bilinear", padding_mode="zeros", align_corners=False):
    """Pixel by pixel: the sum over neighbours of weight times value."""
    h, w = input.shape[2:]
    shift, stretch = (0.0, 1) if align_corners else (0.5, 0)
    x, y = ((grid[..., i] + 1) / 2 * (s - stretch) - shift for i, s in enumerate((w, h)))

    def inside(x, y):
        return _inside(x, w, padding_mode, align_corners), _inside(y, h, padding_mode, align_corners)

    if mode == "nearest":
        x, y = inside(x, y)
        return _pixels(input, x.round(), y.round())
    cubic = mode == "bicubic"
    x, y = (x, y) if cubic else inside(x, y)
    left, top = x.floor(), y.floor()
    result = 0
    for i in range(-1, 3) if cubic else range(2):
        for j in range(-1, 3) if cubic else range(2):
            if cubic:
                weight = _cubic(x - left, i) * _cubic(y - top, j)
                pixels = _pixels(input, *(c.round() for c in inside(left + i, top + j)))
            else:
                weight = (1 - (x - left - i).abs()) * (1 - (y - top - j).abs())
                pixels = _pixels(input, left + i, top + j)
            result = result + weight.unsqueeze(1) * pixels
    return result


def negative_swapped_axes(input, grid, mode="bilinear", padding_mode="zeros", align_corners=False):
    return F.grid_sample(input, grid.flip(-1), mode, padding_mode, align_corners)


def negative_other_corners(input, grid, mode="bilinear", padding_mode="zeros", align_corners=False):
    return F.grid_sample(input, grid, mode, padding_mode, not align_corners)


def negative_always_zeros(input, grid, mode="bilinear", padding_mode="zeros", align_corners=False):
    return F.grid_sample(input, grid, mode, "zeros", align_corners)


def negative_always_border(input, grid, mode="bilinear", padding_mode="zeros", align_corners=False):
    return F.grid_sample(input, grid, mode, "border", align_corners)


def negative_always_bilinear(input, grid, mode="bilinear", padding_mode="zeros", align_corners=False):
    return F.grid_sample(input, grid, "bilinear", padding_mode, align_corners)


def negative_truncated_coordinate(input, grid, mode="bilinear", padding_mode="zeros", align_corners=False):
    """Drops the fraction instead of interpolating."""
    x, y = (((grid[..., i] + 1) * s - 1) / 2 for i, s in enumerate((input.shape[3], input.shape[2])))
    return _pixels(input, x.trunc(), y.trunc())
