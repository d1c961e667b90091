"""Mean of exponentials over one, several or all dimensions.

`fused_exp_mean(input, dim=None, keepdim=False, dtype=None, out=None)` computes `mean(exp(input), dim)` of a float32
tensor.

- `dim`: an int, a tuple of ints, or `None` for all dimensions; negative values count from the end.
- `keepdim=True` keeps the reduced dimensions with size 1 (`dim=None`: all of them), otherwise they are removed.
- `dtype`: a floating-point dtype to which the *exponentials* are converted before their mean is taken, and the result's
  dtype. Without it the result is float32.
- `out`: if given, a contiguous tensor of the result's shape and dtype; it is filled and returned.

No maximum is subtracted: where an exponential overflows float32 (`x` above about 88.72) or is infinite, the mean is
`inf`; `exp(-inf)` is 0, and NaN makes the mean NaN. The mean over no elements is NaN. `input` may be non-contiguous,
expanded or empty. The result's strides are not promised.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("reduction", "memory-bound", "fusion")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(1037,)),
    dict(shape=(45, 17), dim=0, keepdim=True),
    dict(shape=(5, 13, 7), keepdim=True),
    dict(shape=(45, 67), dim=1),
    dict(shape=(1, 131), dim=0),
    dict(shape=(1,)),
    dict(shape=(1037,), out=True),
    dict(shape=(33, 65), dim=1, strided=True),
    dict(shape=(6, 34), dim=1, special=True),
    dict(shape=(9, 34), dim=1, dtype=torch.float64, limit=3.0),
    dict(shape=(5, 13, 21), dim=(0, -1)),
    dict(shape=(4, 0), dim=1),
]

SIZES = [
    dict(shape=(4096,)),
    dict(shape=(2048, 1024), dim=1),
    dict(shape=(8192, 4096), dim=0),
    dict(shape=(134217728,)),
]


def magnitude(input, dim=None, keepdim=False, dtype=None, out=None):
    """A rounding of the exponent is a relative error of its exponential."""
    x = input.nan_to_num(0, 0, 0)
    return (torch.exp(x) * (1 + x.abs())).mean(dim, keepdim=keepdim, dtype=torch.float64)


CONTRACT = Close(scale=magnitude)


def fused_exp_mean(input, dim=None, keepdim=False, dtype=None, out=None):
    result = torch.mean(torch.exp(input), dim, keepdim=keepdim, dtype=dtype)
    return result if out is None else out.copy_(result)


def inputs(make, shape, dim=None, keepdim=False, dtype=None, limit=80.0, special=False, strided=False, out=False):
    """At most 80, except for what is special: sums of a few thousand exponentials stay finite. Larger values come back from the other
    end, as equal ones would all err alike."""
    x = make.floats(*shape)
    x = torch.where(x.abs() > limit, torch.remainder(x + limit, 2 * limit) - limit, x)
    if special:
        x.view(-1)[:: shape[-1] + 1] = torch.tensor([torch.inf, -torch.inf, torch.nan, 88.8, -104.0, 88.7]).to(x)
    x = make.strided(x) if strided else x
    target = torch.full_like(fused_exp_mean(x, dim, keepdim, dtype), 7.0) if out else None
    return call(x, dim=dim, keepdim=keepdim, dtype=dtype, out=target)


def _given(result, out):
    return result if out is None else out.copy_(result)


def _dims(input, dim):
    return tuple(range(input.dim())) if dim is None else (dim,) if isinstance(dim, int) else dim


def positive_base_two(input, dim=None, keepdim=False, dtype=None, out=None):
    """Exponentials by base two, summed one dimension after the other, then divided."""
    e = torch.exp2(input * 1.4426950408889634).to(dtype or input.dtype)
    for d in sorted((d % input.dim() for d in _dims(input, dim)), reverse=True):
        e = e.flip(d).sum(d, keepdim=keepdim) / input.shape[d]
    return _given(e, out)


def negative_exp_of_mean(input, dim=None, keepdim=False, dtype=None, out=None):
    return _given(torch.exp(torch.mean(input, dim, keepdim=keepdim, dtype=dtype)), out)


def negative_padded_with_exp_of_zero(input, dim=None, keepdim=False, dtype=None, out=None):
    """Lanes beyond the end load 0, whose exponential is 1."""
    result = torch.mean(torch.exp(input), dim, keepdim=keepdim, dtype=dtype)
    count = torch.Size(input.shape[d] for d in _dims(input, dim)).numel()
    return _given(result + ((1 << max(0, count - 1).bit_length()) - count) / max(1, count), out)


def negative_sum(input, dim=None, keepdim=False, dtype=None, out=None):
    return _given(torch.sum(torch.exp(input), dim, keepdim=keepdim, dtype=dtype), out)


def negative_drops_keepdim(input, dim=None, keepdim=False, dtype=None, out=None):
    return _given(torch.mean(torch.exp(input), dim, dtype=dtype), out)


def negative_clamped(input, dim=None, keepdim=False, dtype=None, out=None):
    """Hides overflow."""
    return _given(torch.mean(torch.exp(input.clamp(max=80)), dim, keepdim=keepdim, dtype=dtype), out)


def negative_ignores_out(input, dim=None, keepdim=False, dtype=None, out=None):
    return torch.mean(torch.exp(input), dim, keepdim=keepdim, dtype=dtype)
