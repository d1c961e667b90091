"""Samples images at the places that an affine map of the output's pixel grid names.

`grid_sample_with_affine(input, theta, size, mode='bilinear', padding_mode='zeros', align_corners=False)`

`input` is float32 `(N, C, H, W)`, `theta` float32 `(N, 2, 3)`, `size` a `torch.Size` `(N, C, H_out, W_out)`: the shape
of the result.

1. *Grid*. Column `j` of `m = W_out` has the coordinate `x_j = (2j + 1) / m - 1`, or with `align_corners=True`
   `x_j = 2j / (m - 1) - 1` (0 for `m = 1`); rows have `y_i` likewise with `m = H_out`. Output pixel `(i, j)` of image
   `n` samples the place `(g_x, g_y) = theta[n] · (x_j, y_i, 1)`, a matrix times a column:
   `g_x = theta[n, 0, 0] x_j + theta[n, 0, 1] y_i + theta[n, 0, 2]`, `g_y` alike from row 1.
2. *Pixel coordinate* along an axis of `s` pixels (`W` for `g_x`, `H` for `g_y`): `((g + 1) · s - 1) / 2`, or with
   `align_corners=True` `(g + 1) / 2 · (s - 1)`.
3. *Outside the image*, by `padding_mode`: `'zeros'`: pixels outside are 0. `'border'`: the coordinate is clamped to
   `[0, s - 1]`. `'reflection'`: it is reflected as often as needed at the edges `-0.5` and `s - 0.5` (with
   `align_corners=True` at `0` and `s - 1`), then clamped to `[0, s - 1]`.
4. *Interpolation*, by `mode`: `'bilinear'`: the four surrounding pixels, each axis weighted by `1 - distance`.
   `'nearest'`: the pixel at the rounded coordinate, which stays away from halves here. `'bicubic'`: the 4 × 4
   surrounding pixels; along an axis a pixel at distance `d` has the weight `(A + 2) d³ - (A + 3) d² + 1` if `d ≤ 1`,
   else `A d³ - 5 A d² + 8 A d - 4 A`, with `A = -0.75`. Here step 3 applies to the index of each of the 16 pixels, not
   to the coordinate.

Values are finite. `input` and `theta` may be non-contiguous. The result is a new tensor with any strides.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("spatial", "gather", "interpolation", "fusion")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(1, 3, 37, 41), places=(37, 41), identity=True),
    dict(shape=(2, 3, 7, 9), places=(5, 11), identity=True),
    dict(shape=(1, 2, 9, 6), places=(9, 6), mode="nearest", identity=True),
    dict(shape=(1, 3, 16, 67), places=(33, 101), padding_mode="reflection", identity=True),
    dict(shape=(3, 1, 31, 17), places=(23, 19), align_corners=True, identity=True),
    dict(shape=(1, 1, 1, 1), places=(1, 1), identity=True),
    dict(shape=(2, 3, 7, 9), places=(5, 11), strided=True, identity=True),
    dict(shape=(1, 2, 5, 6), places=(7, 7), padding_mode="border", identity=True),
    dict(shape=(2, 2, 8, 9), places=(7, 6), mode="bicubic", identity=True),
    dict(shape=(2, 3, 7, 9), places=(5, 11)),
    dict(shape=(2, 1, 5, 8), places=(6, 7), padding_mode="reflection"),
    dict(shape=(3, 2, 6, 7), places=(5, 9), mode="nearest"),
    dict(shape=(2, 2, 8, 5), places=(9, 4), mode="nearest", padding_mode="reflection", align_corners=True),
    dict(shape=(2, 2, 9, 6), places=(1, 5), padding_mode="border", align_corners=True),
    dict(shape=(2, 1, 6, 7), places=(5, 8), mode="bicubic", padding_mode="reflection", align_corners=True),
]

SIZES = [
    dict(shape=(1, 3, 256, 256), places=(32, 32)),
    dict(shape=(16, 3, 256, 256), places=(256, 256)),
    dict(shape=(16, 3, 1024, 1024), places=(1024, 1024), padding_mode="reflection"),
    dict(shape=(16, 8, 1024, 1024), places=(1024, 1024)),
]


def magnitude(input, theta, size, mode="bilinear", padding_mode="zeros", align_corners=False):
    """A coordinate is rounded in proportion to the image's size, and its error meets the steps between pixels."""
    return float(input.double().abs().max()) * max(input.shape[2:]) / 16


CONTRACT = Close(scale=magnitude)


def grid_sample_with_affine(
    input: torch.Tensor,
    theta: torch.Tensor,
    size: torch.Size,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
) -> torch.Tensor:
    return F.grid_sample(input, F.affine_grid(theta, size, align_corners), mode, padding_mode, align_corners)


def inputs(
    make, shape, places, mode="bilinear", padding_mode="zeros", align_corners=False, identity=False, strided=False
):
    """`identity`: nothing is moved, only resized. Without it any map."""
    x, theta = make.floats(*shape), make.plain(shape[0], 2, 3, low=-1.2, high=1.2)
    if identity:
        theta = torch.eye(2, 3, dtype=x.dtype, device=x.device).repeat(shape[0], 1, 1)
    elif mode == "nearest":
        theta = _whole_steps(make, shape, places, align_corners)
    if strided:
        x, theta = make.strided(x), make.strided(theta)
    size = torch.Size((*shape[:2], *places))
    return call(x, theta, size, mode=mode, padding_mode=padding_mode, align_corners=align_corners)


def _whole_steps(make, shape, places, align_corners):
    """Maps that step by whole pixels, so that a coordinate is within 0.3 of a whole number: rounding has one answer."""
    less = 1 if align_corners else 0
    into = torch.tensor([[shape[3] - less], [shape[2] - less]])
    out = torch.tensor([places[1], places[0]])
    step = make.ints(shape[0], 2, 2, low=-2, high=3).cpu()
    middle = (step * (out - 1)).sum(-1, keepdim=True) / 2
    wanted = (make.plain(shape[0], 2, 1, low=-3, high=9).cpu() + 0.5 - middle).round() + middle
    wanted = wanted + make.plain(shape[0], 2, 1, low=-0.3, high=0.3).cpu()
    shift = 2 * wanted / into + (1 - less) / into - 1
    return torch.cat([step * (out - less) / into, shift], -1).to(make.device, make.dtype)


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


def _weight(d, mode):
    if mode == "nearest":
        return (d <= 0.5).to(d.dtype)
    if mode == "bilinear":
        return (1 - d).clamp(min=0)
    return torch.where(d <= 1, 1.25 * d**3 - 2.25 * d**2 + 1, -0.75 * d**3 + 3.75 * d**2 - 6 * d + 3)


def _pixels(input, x, y):
    """``input[n, :, y, x]`` for whole coordinates, zero outside."""
    n, _, h, w = input.shape
    inside = (x >= 0) & (x < w) & (y >= 0) & (y < h)
    batch = torch.arange(n, device=input.device).reshape(-1, 1, 1)
    picked = input[batch, :, y.long().clamp(0, h - 1), x.long().clamp(0, w - 1)]
    return picked.permute(0, 3, 1, 2) * inside.unsqueeze(1)


def positive_gather(input, theta, size, mode="bilinear", padding_mode="zeros", align_corners=False):
    """Coordinates written out; the sum over neighbours of weight times pixel."""
    (h, w), (oh, ow), less = input.shape[2:], size[2:], 1 if align_corners else 0
    j, i = torch.arange(ow, device=input.device), torch.arange(oh, device=input.device)[:, None]
    a, b = ((2 * k + 1 - less - (m - less)) / max(m - less, 1) for k, m in ((j, ow), (i, oh)))
    t = theta[:, :, :, None, None]
    x, y = (
        ((t[:, k, 0] * a + t[:, k, 1] * b + t[:, k, 2] + 1) * (s - less) - 1 + less) / 2 for k, s in enumerate((w, h))
    )
    cubic = mode == "bicubic"
    if not cubic:
        x, y = _inside(x, w, padding_mode, align_corners), _inside(y, h, padding_mode, align_corners)
    result = 0
    for down in range(-1, 3) if cubic else range(2):
        for right in range(-1, 3) if cubic else range(2):
            column, row = x.floor() + right, y.floor() + down
            weight = _weight((x - column).abs(), mode) * _weight((y - row).abs(), mode)
            if cubic:
                column = _inside(column, w, padding_mode, align_corners).round()
                row = _inside(row, h, padding_mode, align_corners).round()
            result = result + weight.unsqueeze(1) * _pixels(input, column, row)
    return result


def negative_swapped_axes(input, theta, size, mode="bilinear", padding_mode="zeros", align_corners=False):
    return grid_sample_with_affine(input, theta.flip(1), size, mode, padding_mode, align_corners)


def negative_no_translation(input, theta, size, mode="bilinear", padding_mode="zeros", align_corners=False):
    linear = torch.cat([theta[..., :2], torch.zeros_like(theta[..., 2:])], -1)
    return grid_sample_with_affine(input, linear, size, mode, padding_mode, align_corners)


def negative_corners_in_the_grid_only(input, theta, size, mode="bilinear", padding_mode="zeros", align_corners=False):
    return F.grid_sample(input, F.affine_grid(theta, size, align_corners), mode, padding_mode, False)


def negative_corners_in_the_sampling_only(
    input, theta, size, mode="bilinear", padding_mode="zeros", align_corners=False
):
    return F.grid_sample(input, F.affine_grid(theta, size, False), mode, padding_mode, align_corners)


def negative_always_zeros(input, theta, size, mode="bilinear", padding_mode="zeros", align_corners=False):
    return grid_sample_with_affine(input, theta, size, mode, "zeros", align_corners)


def negative_always_border(input, theta, size, mode="bilinear", padding_mode="zeros", align_corners=False):
    return grid_sample_with_affine(input, theta, size, mode, "border", align_corners)


def negative_always_bilinear(input, theta, size, mode="bilinear", padding_mode="zeros", align_corners=False):
    return grid_sample_with_affine(input, theta, size, "bilinear", padding_mode, align_corners)


def negative_one_map_for_all(input, theta, size, mode="bilinear", padding_mode="zeros", align_corners=False):
    """The first image's map for the whole batch."""
    return grid_sample_with_affine(input, theta[:1].expand_as(theta), size, mode, padding_mode, align_corners)
