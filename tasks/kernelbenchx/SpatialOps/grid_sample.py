"""Samples of images or volumes at the places that a grid names.

`grid_sample(input, grid, mode='bilinear', padding_mode='zeros', align_corners=False)`

`input` is float32 `(N, C, H, W)`, `grid` is float32 `(N, H_out, W_out, 2)`, the result `(N, C, H_out, W_out)`. The last
dimension of `grid` is `(x, y)`: `x` runs along `W`, `y` along `H`, both normalized so that the image spans `[-1, 1]`.
Or `input` is `(N, C, D, H, W)`, `grid` `(N, D_out, H_out, W_out, 3)` with `(x, y, z)`, where `z` runs along `D`, and the
result `(N, C, D_out, H_out, W_out)`.

1. *Pixel coordinate* along an axis of `size` pixels: `align_corners=True`: `(g + 1) / 2 · (size - 1)`, so that -1 and 1 are
   the centres of the outermost pixels; `align_corners=False`: `((g + 1) · size - 1) / 2`, so that they are the image's edges.
2. *Outside the image*, by `padding_mode`:
   - `'zeros'`: pixels outside have the value 0.
   - `'border'`: the coordinate is clamped to `[0, size - 1]`.
   - `'reflection'`: the coordinate is reflected at the edges, as often as needed, then clamped to `[0, size - 1]`. The edges
     are `0` and `size - 1` with `align_corners=True`, and `-0.5` and `size - 0.5` without.
3. *Interpolation*, by `mode`:
   - `'bilinear'`: the four surrounding pixels (eight in a volume), weighted by `1 - distance` along each axis.
   - `'nearest'`: the pixel at the coordinate rounded to the nearest integer. Coordinates stay away from halves here.

`grid` has no NaN or infinity. `input` and `grid` may be non-contiguous; `N` may be 0. The result is a new tensor with any
strides.
"""

import itertools
import math

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("spatial", "gather", "interpolation")
MAGNITUDES = (-104, 120)
DISTRIBUTIONS = ("standard", "uniform", "outliers", "small", "zeros")

CASES = [
    dict(shape=(2, 3, 7, 9), places=(5, 11)),
    dict(shape=(1, 2, 8, 9), places=(7, 6), mode="nearest", padding_mode="border"),
    dict(shape=(1, 2, 6, 4, 7), places=(5, 3, 4), padding_mode="reflection"),
    dict(shape=(1, 2, 5, 7, 4), places=(4, 6, 3), mode="nearest", align_corners=True),
    dict(shape=(1, 3, 37, 41), places=(16, 67), mode="bilinear", padding_mode="zeros", align_corners=False),
    dict(shape=(1, 1, 1, 1), places=(1, 1)),
    dict(shape=(1, 2, 9, 6), places=(7, 5), strided=True),
    dict(shape=(2, 3, 7, 9), places=(5, 11), far=True),
    dict(shape=(1, 2, 9, 6), places=(7, 5), align_corners=True, padding_mode="border", far=True),
    dict(shape=(2, 1, 5, 8), places=(6, 7), padding_mode="reflection", far=True),
    dict(shape=(1, 2, 8, 5), places=(9, 4), mode="nearest", padding_mode="reflection", align_corners=True, far=True),
    dict(shape=(2, 3, 4, 6, 5), places=(3, 5, 7), far=True),
    dict(shape=(1, 2, 6, 4, 7), places=(5, 3, 4), padding_mode="reflection", align_corners=True, far=True),
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


def inputs(make, shape, places, mode="bilinear", padding_mode="zeros", align_corners=False, far=False, strided=False):
    """`far`: places outside the image too."""
    reach = 1.7 if far else 1.0
    x, grid = make.floats(*shape), make.plain(shape[0], *places, len(places), low=-reach, high=reach)
    if mode == "nearest":
        grid = _away_from_halves(grid, shape, align_corners)
    if strided:
        x, grid = make.strided(x), make.strided(grid)
    return call(x, grid, mode=mode, padding_mode=padding_mode, align_corners=align_corners)


def _away_from_halves(grid, shape, align_corners):
    """Draws each pixel coordinate to within 0.3 of a whole number: there rounding has one answer only."""
    size = torch.tensor(shape[:1:-1], dtype=grid.dtype, device=grid.device)
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


def _pixels(input, coordinates):
    """``input[n, :, …, y, x]`` for whole coordinates ``(…, y, x)``, zero outside."""
    batch = torch.arange(len(input), device=input.device).reshape(-1, *[1] * len(coordinates))
    inside = torch.stack([(c >= 0) & (c < size) for c, size in zip(coordinates, input.shape[2:], strict=True)]).all(0)
    places = [c.long().clamp(0, size - 1) for c, size in zip(coordinates, input.shape[2:], strict=True)]
    return input[(batch, slice(None), *places)].movedim(-1, 1) * inside.unsqueeze(1)


def positive_gather(input, grid, mode="bilinear", padding_mode="zeros", align_corners=False):
    """Pixel by pixel: the sum over neighbours of weight times value."""
    shift, stretch = (0.0, 1) if align_corners else (0.5, 0)
    coordinates = [
        _inside((g + 1) / 2 * (size - stretch) - shift, size, padding_mode, align_corners)
        for g, size in zip(reversed(grid.unbind(-1)), input.shape[2:], strict=True)
    ]
    if mode == "nearest":
        return _pixels(input, [c.round() for c in coordinates])
    result = 0
    for steps in itertools.product((0, 1), repeat=len(coordinates)):
        corner = [c.floor() + step for c, step in zip(coordinates, steps, strict=True)]
        weight = math.prod(1 - (c - k).abs() for c, k in zip(coordinates, corner, strict=True))
        result = result + weight.unsqueeze(1) * _pixels(input, corner)
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
    places = zip(reversed(grid.unbind(-1)), input.shape[2:], strict=True)
    return _pixels(input, [(((g + 1) * size - 1) / 2).trunc() for g, size in places])


def negative_planes_apart(input, grid, mode="bilinear", padding_mode="zeros", align_corners=False):
    """Interpolates in the nearest plane of a volume instead of between two planes."""
    if grid.shape[-1] == 3:
        stretch, shift = (1, 0.0) if align_corners else (0, 0.5)
        size = input.shape[2]
        plane = ((grid[..., 2] + 1) / 2 * (size - stretch) - shift).round()
        grid = torch.cat((grid[..., :2], ((plane + shift) / (size - stretch) * 2 - 1).unsqueeze(-1)), -1)
    return F.grid_sample(input, grid, mode, padding_mode, align_corners)
