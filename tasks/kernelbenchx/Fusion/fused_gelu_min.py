"""Gaussian error linear unit, then the smallest value of all elements or along one dimension.

`fused_gelu_min(input, approximate='none', dim=None, keepdim=False, out=None)` takes a float32 tensor `input`.

- `approximate='none'`: `gelu(x) = x · Φ(x)`, `Φ(x) = (1 + erf(x / √2)) / 2`, smallest (-0.16997) near
  x = -0.7518.
- `approximate='tanh'`: `gelu(x) = x/2 · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))`; its minimum differs by 7e-5.
- `dim=None`: the result is the smallest value as a 0-dimensional tensor; `keepdim` has no effect.
- `dim` an int (negative values count from the end): the result is a tuple `(values, indices)`, float32 and int64, of
  `input`'s shape without that dimension, or with size 1 there if `keepdim` is true. `indices` say where along `dim` the
  value is. GELU is flat around its minimum, so that values that differ by rounding only are tied: any of their places
  is right.
- NaN is smaller than every number: where there is one, the value is NaN and the index that of a NaN.
- `out`: a contiguous tensor of the result's shape, or a tuple `(values, indices)` of them if `dim` is given; filled and
  returned.

`input` may be non-contiguous, expanded, or empty in other dimensions than `dim`. A named tuple serves as well. The
result's strides are not promised.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Property, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("reduction", "elementwise", "memory-bound", "not-unique", "fusion")
MAGNITUDES = (-104,)

CASES = [
    dict(shape=(1037,), approximate="tanh"),
    dict(shape=(45, 67), dim=1),
    dict(shape=(9, 70), dim=1, positive=True),
    dict(shape=(131, 17), dim=1, keepdim=True, approximate="tanh"),
    dict(shape=(1, 1031), dim=1),
    dict(shape=(1,)),
    dict(shape=(1037,), approximate="tanh", out=True),
    dict(shape=(13, 21), dim=1, out=True),
    dict(shape=(33, 65), dim=1, strided=True),
    dict(shape=(45, 17), dim=-2, keepdim=True, approximate="tanh"),
    dict(shape=(5, 13, 7), keepdim=True, positive=True),
    dict(shape=(6, 34), dim=1, nan=0.02),
    dict(shape=(0, 5), dim=1),
]

SIZES = [
    dict(shape=(4096,)),
    dict(shape=(1024, 1024), dim=1),
    dict(shape=(4096, 8192), dim=1, approximate="tanh"),
    dict(shape=(16384, 8192), dim=1),
]

ROUNDOFF = 32 * torch.finfo(torch.float32).eps
"""Error of a value, and of what an index points at, relative to 1 + |value|: 1 + erf rounds relative to 1."""


def check(args, kwargs, result, expected):
    g = F.gelu(args[0].double(), approximate=kwargs["approximate"])
    dim, keepdim = kwargs["dim"], kwargs["keepdim"]
    if dim is None:
        values, smallest = result, g.min()
    else:
        values, smallest = result[0], g.amin(dim, keepdim=keepdim)
    if _differ(values.double(), smallest).any():
        return ["a value is not the smallest"]
    if dim is not None and values.numel():
        places = result[1] if keepdim else result[1].unsqueeze(dim)
        if ((places < 0) | (places >= g.shape[dim])).any():
            return ["an index is out of range"]
        found = g.gather(dim, places)
        if _differ(found if keepdim else found.squeeze(dim), smallest).any():
            return ["an index does not point at the smallest value"]
    return []


def _differ(got, want):
    near = (got - want).abs() <= ROUNDOFF * (1 + want.abs())
    return ~(near | (got.isnan() & want.isnan()))


CONTRACT = Property(check)


def fused_gelu_min(input, approximate="none", dim=None, keepdim=False, out=None):
    return _smallest(F.gelu(input, approximate=approximate), dim, keepdim, out)


def _smallest(g, dim, keepdim, out):
    if dim is None:
        return g.min() if out is None else out.copy_(g.min())
    values, indices = torch.min(g, dim, keepdim)
    return (values, indices) if out is None else (out[0].copy_(values), out[1].copy_(indices))


def inputs(make, shape, approximate="none", dim=None, keepdim=False, positive=False, nan=0.0, strided=False, out=False):
    """``positive``: the smallest value is not GELU's minimum, and a row padded with zeros shows."""
    x = make.floats(*shape).abs() + 0.5 if positive else make.floats(*shape)
    if nan:
        x = x.masked_fill(make.bools(*shape, p=nan), float("nan"))
    x, target = make.strided(x) if strided else x, None
    if out:
        found = fused_gelu_min(x, approximate, dim, keepdim)
        target = torch.full_like(found, 7.0) if dim is None else tuple(torch.full_like(t, 7) for t in found)
    return call(x, approximate=approximate, dim=dim, keepdim=keepdim, out=target)


def positive_last_of_sorted(input, approximate="none", dim=None, keepdim=False, out=None):
    """The last place of the smallest value, and GELU written out."""
    if approximate == "none":
        g = 0.5 * input * (1 + torch.erf(input * 0.5**0.5))
    else:
        g = input * torch.sigmoid(2 * (2 / torch.pi) ** 0.5 * (input + 0.044715 * input * input * input))
    if dim is None:
        return _smallest(g, dim, keepdim, out)
    values, indices = torch.min(g.flip(dim), dim, keepdim)
    result = values, g.shape[dim] - 1 - indices
    return result if out is None else tuple(o.copy_(r) for o, r in zip(out, result, strict=True))


def negative_gelu_of_min(input, approximate="none", dim=None, keepdim=False, out=None):
    """GELU is not monotonic."""
    if dim is None:
        return _smallest(F.gelu(input.min(), approximate=approximate), dim, keepdim, out)
    values, indices = torch.min(input, dim, keepdim)
    result = F.gelu(values, approximate=approximate), indices
    return result if out is None else tuple(o.copy_(r) for o, r in zip(out, result, strict=True))


def negative_always_erf(input, approximate="none", dim=None, keepdim=False, out=None):
    return _smallest(F.gelu(input), dim, keepdim, out)


def negative_index_of_largest(input, approximate="none", dim=None, keepdim=False, out=None):
    g = F.gelu(input, approximate=approximate)
    return _smallest(g, dim, keepdim, out) if dim is None else (g.amin(dim, keepdim), g.argmax(dim, keepdim))


def negative_zero_padded_row(input, approximate="none", dim=None, keepdim=False, out=None):
    """Lanes beyond the end hold 0."""
    found = _smallest(F.gelu(input, approximate=approximate), dim, keepdim, None)
    found = found.clamp(max=0) if dim is None else (found[0].clamp(max=0), found[1])
    return (
        found if out is None else out.copy_(found) if dim is None else (out[0].copy_(found[0]), out[1].copy_(found[1]))
    )


def negative_skips_nan(input, approximate="none", dim=None, keepdim=False, out=None):
    return _smallest(F.gelu(input, approximate=approximate).nan_to_num(nan=torch.inf), dim, keepdim, out)
