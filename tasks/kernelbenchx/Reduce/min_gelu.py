"""GELU of every element, then the smallest value along a dimension or of all.

`min_gelu(input, dim=None, keepdim=False, approximate='none', out=None)`

1. `g = GELU(input)`: `x · (1 + erf(x / √2)) / 2` for `approximate='none'`, and
   `x · (1 + tanh(√(2/π) · (x + 0.044715 x³))) / 2` for `'tanh'`.
2. `dim=None`: the smallest element of `g`, a 0-dimensional tensor; `keepdim` has no effect and `out` is not given.
   `dim` an int, which may be negative: a tuple `(values, indices)` of the smallest elements of `g` along `dim`,
   float32, and of their int64 positions. Both have `input`'s shape without that dimension, or with size 1 there if
   `keepdim` is true.

- `out` (only with `dim`): if given, a pair of contiguous tensors of the results' shapes and dtypes; they are filled and
  returned.
- GELU is flat around its minimum (about -0.17 near -0.75) and goes to zero on the left: where several elements of `g`
  are smallest up to rounding, any of their positions is right. Equal elements of `input` may be among them.
- NaN is smaller than every number: a row with NaN gives NaN and the position of a NaN.

`input` is float32, may be non-contiguous, and may be empty in other dimensions than `dim`. A named tuple serves as
well. The strides of new results are free.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from kbx.suite import Close, Property, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("reduction", "fusion", "memory-bound")
MAGNITUDES = (-104,)

CASES = [
    dict(shape=(7, 257), dim=1),
    dict(shape=(33, 67), dim=1, keepdim=True),
    dict(shape=(5003,)),
    dict(shape=(1009,), approximate="tanh"),
    dict(shape=(231,), low=1.0),
    dict(shape=(1,)),
    dict(shape=(130, 9), dim=0, high=-4.0, approximate="tanh"),
    dict(shape=(9, 130), dim=-1, low=0.25, keepdim=True),
    dict(shape=(5, 13, 7), dim=1),
    dict(shape=(9, 31), dim=1, out=True),
    dict(shape=(6, 70), dim=1, nan=0.02, keepdim=True),
    dict(shape=(37, 19), dim=1, strided=True),
    dict(shape=(0, 5), dim=1),
]

SIZES = [
    dict(shape=(4096,)),
    dict(shape=(1024, 1024), dim=1),
    dict(shape=(8192, 8192), dim=1, approximate="tanh"),
    dict(shape=(134217728,)),
]


def min_gelu(input: Tensor, dim=None, keepdim=False, approximate="none", out=None) -> Tensor:
    g = F.gelu(input, approximate=approximate)
    if dim is None:
        return torch.min(g)
    return torch.min(g, dim, keepdim) if out is None else torch.min(g, dim, keepdim, out=tuple(out))


def inputs(
    make, shape, dim=None, keepdim=False, approximate="none", low=None, high=None, nan=None, strided=False, out=False
):
    """``low`` and ``high`` bound the values: rows without the flat minimum."""
    x = make.floats(*shape, low=low, high=high)
    if nan:
        x = x.masked_fill(make.bools(*shape, p=nan), float("nan"))
    target = None
    if out:
        places = torch.argmin(x, dim, keepdim)
        target = (torch.full_like(places, 7.0, dtype=x.dtype), torch.zeros_like(places))
    return call(make.strided(x) if strided else x, dim=dim, keepdim=keepdim, approximate=approximate, out=target)


def check(args, kwargs, result, expected):
    """The values by the error model; the positions by what GELU is there."""
    g = F.gelu(args[0].double(), approximate=kwargs["approximate"])
    dim, keepdim = kwargs["dim"], kwargs["keepdim"]
    if dim is None:
        return Close().compare(call(), [result], expected, g.min()).complaints
    values, indices = result
    if g.numel() and not ((indices >= 0) & (indices < g.shape[dim])).all():
        return ["a position lies outside the dimension"]
    places = indices if keepdim else indices.unsqueeze(dim)
    there, x = (t.gather(dim, places) if keepdim else t.gather(dim, places).squeeze(dim) for t in (g, args[0]))
    truth = torch.min(g, dim, keepdim).values
    complaints = Close().compare(call(), [values], expected[0], truth).complaints
    # 1 + erf and 1 + tanh are rounded before they are multiplied by x.
    right = (there - truth <= 1e-6 * (1 + x.abs())) | (there.isnan() & truth.isnan())
    return complaints + ([] if right.all() else [f"{int((~right).sum())} positions are not those of a smallest value"])


CONTRACT = Property(check)


def _smallest(g, dim, keepdim, out):
    if dim is None:
        return g.min()
    values, indices = torch.min(g, dim, keepdim)
    return (values, indices) if out is None else (out[0].copy_(values), out[1].copy_(indices))


def _tanh(x):
    return x * torch.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))


def positive_by_formula(input, dim=None, keepdim=False, approximate="none", out=None):
    g = _tanh(input) if approximate == "tanh" else 0.5 * input * (1 + torch.erf(input * 0.5**0.5))
    return _smallest(g, dim, keepdim, out)


def positive_last_of_ties(input, dim=None, keepdim=False, approximate="none", out=None):
    if dim is None:
        return _smallest(
            F.gelu(input, approximate=approximate).flatten().sort().values[:1].squeeze(0), None, False, out
        )
    values, indices = torch.min(F.gelu(input, approximate=approximate).flip(dim), dim, keepdim)
    values, indices = values, input.shape[dim] - 1 - indices
    return (values, indices) if out is None else (out[0].copy_(values), out[1].copy_(indices))


def negative_gelu_of_the_minimum(input, dim=None, keepdim=False, approximate="none", out=None):
    """GELU is not monotonic."""
    if dim is None:
        return F.gelu(input.min(), approximate=approximate)
    values, indices = torch.min(input, dim, keepdim)
    values = F.gelu(values, approximate=approximate)
    return (values, indices) if out is None else (out[0].copy_(values), out[1].copy_(indices))


def negative_always_erf(input, dim=None, keepdim=False, approximate="none", out=None):
    return _smallest(F.gelu(input), dim, keepdim, out)


def negative_always_tanh(input, dim=None, keepdim=False, approximate="none", out=None):
    return _smallest(_tanh(input), dim, keepdim, out)


def negative_zero_padded_row(input, dim=None, keepdim=False, approximate="none", out=None):
    """An out-of-range lane reads 0 instead of infinity and wins where every element is positive."""
    g = F.gelu(input, approximate=approximate)
    if dim is None:
        return _smallest(F.pad(g.flatten(), (0, 1)), None, False, None)
    return _smallest(torch.cat((g, torch.zeros_like(g.narrow(dim, 0, 1))), dim), dim, keepdim, out)


def negative_values_only(input, dim=None, keepdim=False, approximate="none", out=None):
    result = _smallest(F.gelu(input, approximate=approximate), dim, keepdim, out)
    return result if dim is None else result[0]


def negative_positions_of_the_smallest_input(input, dim=None, keepdim=False, approximate="none", out=None):
    g = F.gelu(input, approximate=approximate)
    if dim is None:
        return g.min()
    values, indices = g.amin(dim, keepdim=keepdim), torch.argmin(input, dim, keepdim)
    return (values, indices) if out is None else (out[0].copy_(values), out[1].copy_(indices))


def negative_skips_nan(input, dim=None, keepdim=False, approximate="none", out=None):
    return _smallest(F.gelu(input, approximate=approximate).nan_to_num(nan=3e38), dim, keepdim, out)


def negative_ignores_out(input, dim=None, keepdim=False, approximate="none", out=None):
    return _smallest(F.gelu(input, approximate=approximate), dim, keepdim, None)
