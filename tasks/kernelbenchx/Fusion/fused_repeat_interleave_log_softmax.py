"""Each element repeated in place, then the logarithm of softmax.

`fused_repeat_interleave_log_softmax(input, repeats, dim=None, *, output_size=None, dtype=None, out=None)`

1. With `dim=None`, `input` (float32) is flattened in row-major order, and `dim` is 0 from here on. Otherwise `dim` is
   an int, negative values count from the end.
2. `y` has every slice `i` of `input` along `dim` repeated `repeats[i]` times, the copies next to each other: `[a, b]`
   twice is `[a, a, b, b]`. `repeats` is an int, or an int64 tensor on `input`'s device, of one element for all slices
   or a vector of one for each. A repeat of 0 drops the slice.
3. If `dtype` is given, `y` is converted to it, and the rest is computed and returned in that dtype.
4. The result is `y - m - log(Σ exp(y - m))`, with `m` the largest `y`; maximum and sum run along `dim` of the
   *repeated* tensor: a slice counts as often as it is repeated.

- `output_size`: if given, the size of `y` along `dim`, which spares reading `repeats` back from the device.
- `out` is not given.

Scores reach several thousand: subtract the maximum, and do not take the logarithm of a finished softmax, which
underflows to -inf below about -103. Arguments may be non-contiguous, expanded or empty; the result is a new tensor with
any strides.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("index", "reduction", "memory-bound", "fusion")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(131,), repeats=3),
    dict(shape=(17, 43), repeats=2, dim=1),
    dict(shape=(13, 9), repeats=2, dim=0, dtype=torch.float32),
    dict(shape=(257,), repeats=3, dtype=torch.float64),
    dict(shape=(67,), repeats="each", dim=0, dtype=torch.float32),
    dict(shape=(1,), repeats=2),
    dict(shape=(9, 37), repeats=2, dim=1, output_size=True),
    dict(shape=(17, 23), repeats=2, dim=0, strided=True),
    dict(shape=(31, 12), repeats="each", dim=0, least=0),
    dict(shape=(5, 7, 11), repeats="one", dim=-2),
    dict(shape=(6, 33), repeats=2, dim=1, spread=50.0),
    dict(shape=(3, 8), repeats=0, dim=1),
    dict(shape=(0, 5), repeats=3, dim=1),
]

SIZES = [
    dict(shape=(4096,), repeats=2),
    dict(shape=(262144,), repeats=2),
    dict(shape=(8388608,), repeats=2),
    dict(shape=(16384, 2048), repeats=4, dim=1),
]


def magnitude(input, repeats, dim=None, *, output_size=None, dtype=None, out=None):
    """The logarithm of the sum is rounded relative to the row's largest score where that is added first."""
    x = torch.repeat_interleave(input, repeats, dim=dim)  # what is repeated 0 times has no part in it
    return 1 + x.abs().amax(dim or 0, keepdim=True) if x.numel() else 1.0


CONTRACT = Close(scale=magnitude)


def fused_repeat_interleave_log_softmax(input, repeats, dim=None, *, output_size=None, dtype=None, out=None):
    repeated = torch.repeat_interleave(input, repeats, dim=dim, output_size=output_size)
    return F.log_softmax(repeated, dim=0 if dim is None else dim, dtype=dtype)


def inputs(make, shape, repeats, dim=None, spread=1.0, least=1, dtype=None, output_size=False, strided=False):
    """``repeats="each"``: a vector of numbers from ``least`` on; ``"one"``: a tensor of one element."""
    x = make.floats(*shape) * spread
    length = x.numel() if dim is None else shape[dim]
    if repeats == "each":
        repeats = make.ints(length, low=least, high=4)
        repeats[-1:] = 1
    elif repeats == "one":
        repeats = make.ints(1, low=2, high=4)
    size = int((torch.as_tensor(repeats).cpu() * torch.ones(length, dtype=torch.int64)).sum())
    x = make.strided(x) if strided else x
    return call(x, repeats, dim=dim, output_size=size if output_size else None, dtype=dtype)


def positive_weighted_sum(input, repeats, dim=None, *, output_size=None, dtype=None, out=None):
    """Exponentials of the unrepeated input, weighted by the repeats, before anything is repeated."""
    x, dim = (input.reshape(-1), 0) if dim is None else (input, dim)
    x = x.to(dtype or x.dtype)
    weight = torch.as_tensor(repeats, device=x.device).expand(x.shape[dim])
    column = weight.to(x.dtype).view([-1 if d == dim % x.dim() else 1 for d in range(x.dim())])
    if x.numel():
        away = x - x.masked_fill(column == 0, -torch.inf).amax(dim, keepdim=True)
        x = away - torch.log((column * torch.exp(away)).nan_to_num(0.0, 0.0, 0.0).sum(dim, keepdim=True))
    return torch.repeat_interleave(x, weight, dim=dim)


def negative_softmax_before_repeating(input, repeats, dim=None, *, output_size=None, dtype=None, out=None):
    x, dim = (input.reshape(-1), 0) if dim is None else (input, dim)
    return torch.repeat_interleave(F.log_softmax(x, dim=dim, dtype=dtype), repeats, dim=dim)


def negative_tiled(input, repeats, dim=None, *, output_size=None, dtype=None, out=None):
    """[a, b, a, b] instead of [a, a, b, b]."""
    y = torch.repeat_interleave(input, repeats, dim=dim)
    dim = 0 if dim is None else dim
    if isinstance(repeats, int) and repeats:
        y = y.unflatten(dim, (-1, repeats)).transpose(dim, dim + 1 if dim >= 0 else dim - 1).reshape(y.shape)
    return F.log_softmax(y, dim=dim, dtype=dtype)


def negative_first_repeat_for_all(input, repeats, dim=None, *, output_size=None, dtype=None, out=None):
    if isinstance(repeats, torch.Tensor):
        repeats = repeats[:1] + 1
    return F.log_softmax(torch.repeat_interleave(input, repeats, dim=dim), dim=dim or 0, dtype=dtype)


def negative_log_of_softmax(input, repeats, dim=None, *, output_size=None, dtype=None, out=None):
    y = torch.repeat_interleave(input, repeats, dim=dim)
    return torch.log(F.softmax(y, dim=dim or 0, dtype=dtype))


def negative_always_last_dimension(input, repeats, dim=None, *, output_size=None, dtype=None, out=None):
    y = torch.repeat_interleave(input, repeats, dim=dim)
    return F.log_softmax(y, dim=-1, dtype=dtype)


def negative_ignores_dtype(input, repeats, dim=None, *, output_size=None, dtype=None, out=None):
    return F.log_softmax(torch.repeat_interleave(input, repeats, dim=dim), dim=dim or 0)
