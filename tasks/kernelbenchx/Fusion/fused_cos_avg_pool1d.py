"""Cosine of every element, then one-dimensional average pooling.

`fused_cos_avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True)`

`input` is float32 of shape `(N, C, L)`, in radians. `kernel_size` `k`, `stride` `s` (`None`: `k`) and
`padding` `p ≤ k / 2` are ints. Let `c[i] = cos(input[…, i])` for `0 ≤ i < L`, and 0 (not `cos(0)`) for the `p` places
before and after. The result has `(L + 2p - k) / s + 1` places, the quotient rounded down, or up with `ceil_mode`; then
a last place whose window would begin at or after the end of the input (at `i·s ≥ L + p`) is left out. Place `i` covers
`c[a] … c[b - 1]` with `a = i·s - p`, `b = min(a + k, L + p)`:

    out[…, i] = (c[a] + … + c[b - 1]) / divisor,

- `count_include_pad=True`: `divisor = b - a`, with the padding, but without what a last window has beyond it;
- `count_include_pad=False`: `divisor` is the number of elements of `input` in the window.

Elements reach several thousand: the reduction of the angle must be accurate there. `input` may be non-contiguous, `N`
may be 0. The result is a new float32 tensor with any strides.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("pooling", "fusion", "memory-bound")
MAGNITUDES = (-104, 32)

CASES = [
    dict(shape=(2, 3, 67), kernel_size=3),
    dict(shape=(3, 5, 33), kernel_size=4, stride=1, padding=1),
    dict(shape=(1, 7, 51), kernel_size=2, ceil_mode=True),
    dict(shape=(2, 3, 65), kernel_size=2, padding=1, ceil_mode=True),
    dict(shape=(1, 2, 1031), kernel_size=4, stride=2, padding=1, ceil_mode=False),
    dict(shape=(1, 1, 1), kernel_size=2, padding=1),
    dict(shape=(2, 7, 45), kernel_size=3, stride=2, strided=True),
    dict(shape=(2, 2, 38), kernel_size=7, stride=2, ceil_mode=True),
    dict(shape=(1, 5, 50), kernel_size=2, stride=7, ceil_mode=True),
    dict(shape=(3, 5, 31), kernel_size=4, stride=1, padding=2),
    dict(shape=(2, 3, 43), kernel_size=4, stride=2, padding=1, ceil_mode=True, count_include_pad=False),
    dict(shape=(2, 2, 65), kernel_size=2, offset=5000.0),
    dict(shape=(0, 4, 10), kernel_size=2),
]

SIZES = [
    dict(shape=(32, 32, 1536), kernel_size=3),
    dict(shape=(32, 32, 16384), kernel_size=3, stride=2, padding=1),
    dict(shape=(64, 64, 32768), kernel_size=3),
    dict(shape=(64, 64, 32768), kernel_size=4, stride=1, padding=1),
]

# Cosines of both signs cancel in the mean.
CONTRACT = Close(scale=1.0)


def fused_cos_avg_pool1d(
    input: torch.Tensor,
    kernel_size: int,
    stride: int = None,
    padding: int = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> torch.Tensor:
    return F.avg_pool1d(torch.cos(input), kernel_size, stride, padding, ceil_mode, count_include_pad)


def inputs(make, shape, kernel_size, offset=0.0, strided=False, **options):
    x = make.floats(*shape) + offset
    return call(make.strided(x) if strided else x, kernel_size, **options)


def _pooled(values, kernel_size, stride, padding, ceil_mode, count_include_pad, trimmed=True):
    """Sums of windows over sums of ones; ``trimmed``: what lies beyond the padding is not counted."""
    length, stride = values.shape[-1], kernel_size if stride is None else stride
    room = length + 2 * padding - kernel_size
    places = (-(-room // stride) if ceil_mode else room // stride) + 1
    if ceil_mode and (places - 1) * stride >= length + padding:
        places -= 1
    beyond = max(0, (places - 1) * stride + kernel_size - length - 2 * padding)
    inside = F.pad(torch.ones_like(values), (padding, padding), value=float(count_include_pad))
    counted = F.pad(inside, (0, beyond), value=0.0 if trimmed or not count_include_pad else 1.0)
    padded = F.pad(values, (padding, padding + beyond))
    total, count = (t.unfold(-1, kernel_size, stride)[..., :places, :].flip(-1).sum(-1) for t in (padded, counted))
    return total / count


def positive_windows(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    """The cosine as a shifted sine in double precision, the sums backwards."""
    cosine = torch.sin(input.double() + torch.pi / 2).to(input.dtype)
    return _pooled(cosine, kernel_size, stride, padding, ceil_mode, count_include_pad)


def negative_cosine_of_padding(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    """The padding takes part as cos(0) = 1."""
    padded = F.pad(input, (padding, padding)).cos()
    if count_include_pad and not ceil_mode:
        return F.avg_pool1d(padded, kernel_size, stride)
    return F.avg_pool1d(input.cos(), kernel_size, stride, padding, ceil_mode, count_include_pad)


def negative_pooled_first(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    return F.avg_pool1d(input, kernel_size, stride, padding, ceil_mode, count_include_pad).cos()


def negative_sine(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    return F.avg_pool1d(input.sin(), kernel_size, stride, padding, ceil_mode, count_include_pad)


def negative_padding_always_counted(
    input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True
):
    return F.avg_pool1d(input.cos(), kernel_size, stride, padding, ceil_mode)


def negative_padding_never_counted(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    return F.avg_pool1d(input.cos(), kernel_size, stride, padding, ceil_mode, False)


def negative_always_divided_by_kernel_size(
    input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True
):
    """Also the window that reaches beyond the padding."""
    return _pooled(input.cos(), kernel_size, stride, padding, ceil_mode, count_include_pad, trimmed=False)


def negative_ignores_ceil_mode(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    return F.avg_pool1d(input.cos(), kernel_size, stride, padding, False, count_include_pad)


def negative_short_angle_reduction(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    """Takes multiples of a rounded 2π away: wrong for large angles."""
    turn = torch.tensor(2 * torch.pi, dtype=torch.float32, device=input.device).to(input.dtype)
    reduced = input - turn * (input / turn).round()
    return F.avg_pool1d(reduced.cos(), kernel_size, stride, padding, ceil_mode, count_include_pad)
