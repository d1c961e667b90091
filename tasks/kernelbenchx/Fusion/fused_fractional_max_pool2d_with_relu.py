"""ReLU, then two-dimensional fractional maximum pooling: windows of one size at random places.

`fused_fractional_max_pool2d_with_relu(input, kernel_size, output_size=None, output_ratio=None, return_indices=False)`

- `input`: float32 `(N, C, H, W)`, `N, C ≥ 1`. Every `(n, c)` is a plane that is pooled for itself.
- `kernel_size`: an int, or a pair `(kH, kW)`.
- The output is `(…, OH, OW)`. Either `output_size` gives `(OH, OW)`, or `output_ratio`, a pair of
  numbers in `(0, 1)`, gives `OH = floor(H · ratio)`, `OW` alike. `OH + kH - 1 ≤ H`, `OW + kW - 1 ≤ W`.

1. `a = max(0, input)`.
2. Each plane draws two numbers `u_h`, `u_w` uniformly from `[0, 1)`, independently of each other, of the other planes,
   of the data, and anew in each call, so seed from `torch`'s generator or a counter. With `α = (H - kH) / (OH - 1)`
   window row `i` starts at `h_i = floor((i + u_h)·α) - floor(u_h·α)`, the last at `h_(OH-1) = H - kH` (also where it is
   the only one). Columns `w_j` alike from `u_w`. Products may be rounded in float32.
3. `out[…, i, j] = max of a[…, h_i : h_i + kH, w_j : w_j + kW]`.

With `return_indices` the result is a tuple `(out, indices)`: `indices` is int64, `row · W + column` within the plane,
of an element of the window whose `a` equals the maximum; where several do (often zeros), any of them.

`input` may be non-contiguous and has no NaN. The results are new tensors with any strides.
"""

import math

import torch
import torch.nn.functional as F

from kbx.suite import Random, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("pooling", "random", "index", "fusion")

CASES = [
    dict(shape=(32, 12, 12, 12), kernel_size=(2, 2), output_size=(5, 5)),
    dict(shape=(10, 13, 9, 14), kernel_size=(2, 3), output_size=(4, 6), return_indices=True),
    dict(shape=(7, 10, 11, 10), kernel_size=(3, 3), output_size=(4, 5), return_indices=True),
    dict(shape=(9, 8, 13, 11), kernel_size=(2, 2), output_ratio=(0.5, 0.5), return_indices=False),
    dict(shape=(1, 67, 7, 17), kernel_size=(3, 2), output_ratio=(0.5, 0.5), return_indices=True),
    dict(shape=(1, 1, 1, 1), kernel_size=1, output_size=(1, 1)),
    dict(shape=(8, 9, 7, 17), kernel_size=(3, 2), output_size=(4, 5), return_indices=True, strided=True),
    dict(shape=(9, 8, 13, 11), kernel_size=2, output_size=(6, 5)),
    dict(shape=(8, 9, 7, 17), kernel_size=(3, 2), output_ratio=(0.7, 0.3)),
    dict(shape=(2, 3, 8, 9), kernel_size=(8, 4), output_size=(1, 3)),
]

SIZES = [
    dict(shape=(16, 3, 17, 17), kernel_size=(2, 2), output_size=(11, 11)),
    dict(shape=(16, 3, 254, 254), kernel_size=(2, 2), output_size=(169, 169)),
    dict(shape=(16, 3, 1025, 1025), kernel_size=(2, 2), output_size=(683, 683), return_indices=True),
    dict(shape=(32, 64, 254, 254), kernel_size=(2, 2), output_size=(169, 169)),
]


def fused_fractional_max_pool2d_with_relu(
    input: torch.Tensor, kernel_size, output_size=None, output_ratio=None, return_indices=False
) -> torch.Tensor:
    return F.fractional_max_pool2d(F.relu(input), kernel_size, output_size, output_ratio, return_indices)


def inputs(make, shape, kernel_size, strided=False, **options):
    x = make.floats(*shape)
    return call(make.strided(x) if strided else x, kernel_size, **options)


DEVIATIONS, SLACK = 7, 4
"""Standard deviations, and beyond that planes, that a count may be off: an honest kernel stays below."""
ENOUGH = 64
"""Planes below which nothing is counted."""
CHUNK = 1 << 24
"""Elements compared at a time."""


def check(args, kwargs, results, expected):
    input, (kh, kw) = args[0], _pair(args[1])
    a = input.clamp(min=0).flatten(0, -3)
    complaints, drawn = [], []
    for result in results:
        out, indices = result if kwargs.get("return_indices") else (result, None)
        oh, ow = out.shape[-2:]
        (rows, row_share), (columns, column_share) = _starts(a.shape[1], kh, oh, a), _starts(a.shape[2], kw, ow, a)
        out, indices = (None if t is None else t.flatten(0, -3) for t in (out, indices))
        if indices is not None and not _points_at_value(a, out, indices):
            return ["an index does not lead to the maximum"]
        fits = _fits(a, out, indices, rows, columns, kh, kw)
        odd = ~fits.flatten(1).any(1)
        # Where u is within rounding of a jump, single windows may be one off; that is rare.
        if odd.sum() > 4 + len(a) // 500 or not _nearly(a[odd], out[odd], rows[0], columns[0], kh, kw):
            return [f"{int(odd.sum())} of {len(a)} planes are no maxima over windows that one u_h and one u_w give"]
        if fits.flatten(1).sum(1).eq(1).double().mean() > 0.98 and len(a) >= ENOUGH:
            place = fits.flatten(1).int().argmax(1)
            drawn.append((place // len(columns), place % len(columns)))
            complaints += _statistics(*drawn[-1], row_share, column_share)
    if len(drawn) > 1:
        same = (drawn[0][0] == drawn[1][0]) & (drawn[0][1] == drawn[1][1])
        complaints += _count(
            "two calls have the same windows", same, row_share.square().sum() * column_share.square().sum()
        )
    return complaints


def _pair(value):
    return (value, value) if isinstance(value, int) else value


def _starts(size, kernel, places, like):
    """All sequences of window starts along an axis, and the share of u that gives each.

    With α = p / q in lowest terms, floor((i + u)α) - floor(uα) = (i·p + r) // q, where r = floor(u·p) mod q.
    """
    if places == 1:
        return torch.tensor([[size - kernel]], device=like.device), torch.ones(1, device=like.device)
    common = math.gcd(size - kernel, places - 1)
    p, q = (size - kernel) // common, (places - 1) // common
    i, r = torch.arange(places, device=like.device), torch.arange(min(p, q), device=like.device)
    return (i * p + r[:, None]) // q, ((p - 1 - r) // q + 1) / p


def _points_at_value(a, out, indices):
    if indices.min() < 0 or indices.max() >= a[0].numel():
        return False
    return torch.equal(a.flatten(1).gather(1, indices.flatten(1)), out.flatten(1))


def _fits(a, out, indices, rows, columns, kh, kw):
    """``(planes, row sequences, column sequences)``: which windows explain a plane's output and indices."""
    down = rows[:, :, None] + torch.arange(kh, device=a.device)
    across = columns[:, :, None] + torch.arange(kw, device=a.device)
    step, parts = max(1, CHUNK // (down.numel() * across.numel())), []
    for values, found in zip(a.split(step), out.split(step), strict=True):
        highest = values[:, down].amax(3)[..., across].amax(-1)
        parts.append((highest == found[:, None, :, None]).all(-1).all(2))
    fits = torch.cat(parts)
    if indices is not None:
        row, column = indices[:, None] // a.shape[2], indices[:, None] % a.shape[2]
        below, beside = row - rows[:, :, None], column - columns[:, None, :]
        fits &= ((below >= 0) & (below < kh)).flatten(2).all(2)[:, :, None]
        fits &= ((beside >= 0) & (beside < kw)).flatten(2).all(2)[:, None, :]
    return fits


def _nearly(a, out, rows, columns, kh, kw):
    """Whether every window starts at most one place after the earliest that any u gives."""
    right = torch.zeros_like(out, dtype=torch.bool)
    for y in (rows, rows + 1):
        for x in (columns, columns + 1):
            down = y.clamp(max=a.shape[1] - kh)[:, None] + torch.arange(kh, device=a.device)
            across = x.clamp(max=a.shape[2] - kw)[:, None] + torch.arange(kw, device=a.device)
            right |= a[:, down].amax(2)[..., across].amax(-1) == out
    return bool(right.all())


def _statistics(row, column, row_share, column_share):
    """Of one call: how often each sequence is drawn, and whether planes and axes are independent."""
    complaints = []
    for axis, drawn, share in (("rows", row, row_share), ("columns", column, column_share)):
        again = drawn[1:] == drawn[:-1]
        complaints += _count(f"neighbouring planes have the same {axis}", again, share.square().sum())
        for r, probability in enumerate(share):
            complaints += _count(
                f"sequence {r} of the {axis} is not as frequent as u makes it", drawn == r, probability
            )
    if torch.equal(row_share, column_share):
        complaints += _count("rows and columns share their u", row == column, row_share.square().sum())
    return complaints


def _count(text, happened, probability):
    n, p = len(happened), float(probability)
    off = abs(float(happened.sum()) - n * p)
    return [f"{text}: {int(happened.sum())} of {n}"] if off > DEVIATIONS * (n * p * (1 - p)) ** 0.5 + SLACK else []


CONTRACT = Random(check)


def _pooled(input, kernel_size, output_size, output_ratio, return_indices, u, regions=None):
    """From one pair u for each plane; ``regions`` is the windows' size where it differs from what places them."""
    (kh, kw), a = _pair(kernel_size), input.clamp(min=0).flatten(0, -3)
    (h, w), p = a.shape[1:], torch.arange(len(a), device=a.device)
    oh, ow = (int(h * output_ratio[0]), int(w * output_ratio[1])) if output_size is None else _pair(output_size)

    def starts(u, size, kernel, places):
        alpha = (size - kernel) / max(places - 1, 1)
        first = ((torch.arange(places, device=a.device) + u[:, None]) * alpha).floor() - (u[:, None] * alpha).floor()
        first[:, -1] = size - kernel
        return first.long()

    top, left = starts(u[:, 0], h, kh, oh), starts(u[:, 1], w, kw, ow)
    kh, kw = regions or (kh, kw)
    row = top[:, :, None, None, None] + torch.arange(kh, device=a.device)[:, None]
    column = left[:, None, :, None, None] + torch.arange(kw, device=a.device)
    windows = a[p[:, None, None, None, None], row, column].flatten(3)
    out, place = windows.max(-1)
    indices = (row * w + column).flatten(3).gather(3, place[..., None])[..., 0]
    shape = (*input.shape[:-2], oh, ow)
    return (out.reshape(shape), indices.reshape(shape)) if return_indices else out.reshape(shape)


def _draw(input, *shape):
    return torch.rand(shape or (input[..., 0, 0].numel(), 2), device=input.device, dtype=torch.float64)


def positive_own_windows(input, kernel_size, output_size=None, output_ratio=None, return_indices=False):
    return _pooled(input, kernel_size, output_size, output_ratio, return_indices, _draw(input))


def positive_relu_last(input, kernel_size, output_size=None, output_ratio=None, return_indices=False):
    """The maximum is monotone; the indices then are of the largest element before ReLU."""
    result = F.fractional_max_pool2d(input, kernel_size, output_size, output_ratio, return_indices)
    return (result[0].clamp(min=0), result[1]) if return_indices else result.clamp(min=0)


def negative_no_relu(input, kernel_size, output_size=None, output_ratio=None, return_indices=False):
    return F.fractional_max_pool2d(input, kernel_size, output_size, output_ratio, return_indices)


def negative_evenly_spaced(input, kernel_size, output_size=None, output_ratio=None, return_indices=False):
    """u = 0 in every plane and call."""
    return _pooled(input, kernel_size, output_size, output_ratio, return_indices, 0 * _draw(input))


def negative_same_windows_every_call(input, kernel_size, output_size=None, output_ratio=None, return_indices=False):
    u = torch.rand(input[..., 0, 0].numel(), 2, generator=torch.Generator().manual_seed(0)).to(input.device)
    return _pooled(input, kernel_size, output_size, output_ratio, return_indices, u)


def negative_same_windows_in_all_planes(input, kernel_size, output_size=None, output_ratio=None, return_indices=False):
    return _pooled(
        input,
        kernel_size,
        output_size,
        output_ratio,
        return_indices,
        _draw(input, 1, 2).expand(input[..., 0, 0].numel(), 2),
    )


def negative_one_number_for_both_axes(input, kernel_size, output_size=None, output_ratio=None, return_indices=False):
    return _pooled(input, kernel_size, output_size, output_ratio, return_indices, _draw(input)[:, :1].expand(-1, 2))


def negative_windows_too_small(input, kernel_size, output_size=None, output_ratio=None, return_indices=False):
    kh, kw = _pair(kernel_size)
    return _pooled(
        input,
        kernel_size,
        output_size,
        output_ratio,
        return_indices,
        _draw(input),
        regions=(max(kh - 1, 1), max(kw - 1, 1)),
    )


def negative_adaptive_windows(input, kernel_size, output_size=None, output_ratio=None, return_indices=False):
    like = fused_fractional_max_pool2d_with_relu(input, kernel_size, output_size, output_ratio, return_indices)
    shape = (like[0] if return_indices else like).shape[-2:]
    return F.adaptive_max_pool2d(F.relu(input), shape, return_indices)


def negative_indices_within_the_window(input, kernel_size, output_size=None, output_ratio=None, return_indices=False):
    """Counts from the first row, as if the image were as wide as the output."""
    result = fused_fractional_max_pool2d_with_relu(input, kernel_size, output_size, output_ratio, return_indices)
    if not return_indices:
        return result
    row, column = result[1] // input.shape[-1], result[1] % input.shape[-1]
    return result[0], row * result[0].shape[-1] + column


def negative_biased_draw(input, kernel_size, output_size=None, output_ratio=None, return_indices=False):
    """Squares the random numbers: small ones become too frequent."""
    return _pooled(input, kernel_size, output_size, output_ratio, return_indices, _draw(input) ** 8)
