"""Gaussian error linear unit, then the standard deviation over one, several or all dimensions.

`fused_gelu_std(input, dim=None, keepdim=False, correction=1, approximate='none', out=None)` takes a float32 tensor.

- `approximate='none'`: `g = x · Φ(x)`, `Φ(x) = (1 + erf(x / √2)) / 2`; `approximate='tanh'`:
  `g = x/2 · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))`. The two differ by up to 5e-4 and are told apart.
- Over the `N` elements of `g` along `dim`, with mean `m`, the result is `sqrt(Σ (g - m)² / max(0, N - correction))`:
  NaN where `N = correction = 1` or `N = 0`; infinite where the divisor is 0 but the sum is not. `correction` is an
  int: 1 for the sample's deviation, 0 for the population's.
- `dim`: an int, a tuple of ints, or `None` for all dimensions; negative values count from the end.
- `keepdim=True` keeps the reduced dimensions with size 1 (`dim=None`: all of them), otherwise they are removed.
- `out`: if given, a contiguous float32 tensor of the result's shape; it is filled and returned.

`input` may have a mean much larger than its deviation: take off the mean before squaring. It may be non-contiguous,
expanded or empty. The result's strides are not promised.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("reduction", "memory-bound", "fusion")
MAGNITUDES = (-52, 56)

CASES = [
    dict(shape=(45, 67), dim=1),
    dict(shape=(1037,), approximate="tanh"),
    dict(shape=(45, 17), dim=0, keepdim=True, approximate="tanh"),
    dict(shape=(37, 29), keepdim=True),
    dict(shape=(3, 2051), dim=1, keepdim=True),
    dict(shape=(1,)),
    dict(shape=(1037,), approximate="tanh", out=True),
    dict(shape=(33, 65), dim=1, strided=True),
    dict(shape=(13, 21), dim=(0, -1)),
    dict(shape=(5, 13, 7)),
    dict(shape=(4, 3), dim=1, correction=0),
    dict(shape=(9, 2), dim=1, correction=3),
    dict(shape=(9, 70), dim=1, shift=200.0),
    dict(shape=(0, 5), dim=1),
]

SIZES = [
    dict(shape=(4096,)),
    dict(shape=(1024, 1024), dim=1),
    dict(shape=(4096, 8192), dim=0, approximate="tanh"),
    dict(shape=(134217728,)),
]


def magnitude(input, dim=None, keepdim=False, correction=1, approximate="none", out=None):
    """GELU is rounded relative to its size, the mean included."""
    g = F.gelu(input, approximate=approximate)
    return g.square().mean(dim, keepdim=keepdim).sqrt()


CONTRACT = Close(scale=magnitude)


def fused_gelu_std(input, dim=None, keepdim=False, correction=1, approximate="none", out=None):
    result = torch.std(F.gelu(input, approximate=approximate), dim, correction=correction, keepdim=keepdim)
    return result if out is None else out.copy_(result)


def inputs(make, shape, dim=None, keepdim=False, correction=1, approximate="none", shift=0.0, strided=False, out=False):
    x = make.floats(*shape) + shift
    x = make.strided(x) if strided else x
    target = torch.full_like(fused_gelu_std(x, dim, keepdim, correction), 7.0) if out else None
    return call(x, dim=dim, keepdim=keepdim, correction=correction, approximate=approximate, out=target)


def _given(result, out):
    return result if out is None else out.copy_(result)


def _gelu(x, approximate):
    if approximate == "none":
        return 0.5 * x * (1 + torch.erf(x * 0.5**0.5))
    return x * torch.sigmoid(2 * (2 / torch.pi) ** 0.5 * (x + 0.044715 * x * x * x))


def _count(input, dim):
    dims = range(input.dim()) if dim is None else (dim,) if isinstance(dim, int) else dim
    return torch.Size(input.shape[d] for d in dims).numel()


def positive_two_pass(input, dim=None, keepdim=False, correction=1, approximate="none", out=None):
    g = _gelu(input, approximate)
    n = _count(input, dim)
    squares = (g - g.sum(dim, keepdim=True) / n).square().sum(dim, keepdim=keepdim)
    return _given(torch.sqrt(squares / max(0, n - correction)), out)


def positive_merged_chunks(input, dim=None, keepdim=False, correction=1, approximate="none", out=None):
    """Means and squares of chunks of 16 elements, merged one after the other."""
    g, n = _gelu(input, approximate), _count(input, dim)
    dims = sorted(d % g.dim() for d in (range(g.dim()) if dim is None else (dim,) if isinstance(dim, int) else dim))
    rows = g.permute(*(d for d in range(g.dim()) if d not in dims), *dims).flatten(-len(dims))
    size, mean, squares = 0, 0.0, torch.zeros_like(rows.sum(-1))
    for chunk in rows.split(16, -1):
        length, away = chunk.shape[-1], chunk.mean(-1) - mean
        squares = squares + (chunk - chunk.mean(-1, keepdim=True)).square().sum(-1)
        squares = squares + away * away * (size * length / (size + length))
        size, mean = size + length, mean + away * (length / (size + length))
    result = torch.sqrt(squares / max(0, n - correction))
    return _given(result.view([1 if d in dims else s for d, s in enumerate(g.shape)]) if keepdim else result, out)


def negative_ignores_correction(input, dim=None, keepdim=False, correction=1, approximate="none", out=None):
    return _given(torch.std(F.gelu(input, approximate=approximate), dim, keepdim=keepdim), out)


def negative_population(input, dim=None, keepdim=False, correction=1, approximate="none", out=None):
    return _given(torch.std(F.gelu(input, approximate=approximate), dim, correction=0, keepdim=keepdim), out)


def negative_negative_divisor(input, dim=None, keepdim=False, correction=1, approximate="none", out=None):
    """N - correction below 0: the root of a negative number."""
    variance = torch.var(F.gelu(input, approximate=approximate), dim, correction=0, keepdim=keepdim)
    count = torch.tensor(float(_count(input, dim)), device=input.device)
    return _given((variance * count / (count - correction)).sqrt(), out)


def negative_always_erf(input, dim=None, keepdim=False, correction=1, approximate="none", out=None):
    return _given(torch.std(F.gelu(input), dim, correction=correction, keepdim=keepdim), out)


def negative_variance(input, dim=None, keepdim=False, correction=1, approximate="none", out=None):
    return _given(torch.var(F.gelu(input, approximate=approximate), dim, correction=correction, keepdim=keepdim), out)


def negative_difference_of_squares(input, dim=None, keepdim=False, correction=1, approximate="none", out=None):
    """E[g²] - E[g]², which cancels where the mean is large."""
    g, n = F.gelu(input, approximate=approximate), _count(input, dim)
    total, squares = g.sum(dim, keepdim=keepdim), g.square().sum(dim, keepdim=keepdim)
    return _given(torch.sqrt((squares - total * total / n) / max(0, n - correction)), out)


def negative_ignores_out(input, dim=None, keepdim=False, correction=1, approximate="none", out=None):
    return torch.std(F.gelu(input, approximate=approximate), dim, correction=correction, keepdim=keepdim)
