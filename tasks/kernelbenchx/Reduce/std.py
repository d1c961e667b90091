"""Standard deviation over one, several or all dimensions.

`std(input, dim=None, correction=1, keepdim=False, out=None)`: for the `N` elements `x` along `dim`, with mean `μ`,

    sqrt(Σ (x - μ)² / max(0, N - correction))

- `dim` is an int, a tuple of ints, or `None` for all dimensions; negative values count from the end;
- `correction` is an int: 1 gives the unbiased estimate, 0 the deviation of the elements themselves. Where the divisor
  is 0 the result is what `0 / 0` or `Σ / 0` gives: NaN if `N ≤ 1` or all elements are equal, otherwise infinity;
- `keepdim=True` keeps the reduced dimensions with size 1, otherwise they are removed;
- `out`: if given, a contiguous float32 tensor of the result's shape; it is filled and returned.

`input` is float32 and may be strided or broadcast; over no elements the result is NaN. The mean may be far larger than
the deviation, so the variance must not be computed as `E[x²] - E[x]²` in float32. The strides of a new result are not
promised.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("reduction", "memory-bound")
MAGNITUDES = (-52, 56)

CASES = [
    dict(shape=(1003,)),
    dict(shape=(37,), correction=0),
    dict(shape=(33, 65), dim=0),
    dict(shape=(19, 1031), dim=1, keepdim=True),
    dict(shape=(21, 45), dim=1, correction=0),
    dict(shape=(1,)),
    dict(shape=(33, 65), dim=0, strided=True),
    dict(shape=(5, 17, 31), dim=(0, 2)),
    dict(shape=(33, 65), dim=1, out=True),
    dict(shape=(21, 45), dim=1, offset=100.0),
    dict(shape=(9, 2), dim=1, correction=3),
    dict(shape=(9, 1), dim=-1, correction=0),
    dict(shape=(7, 0), dim=1),
    dict(shape=(0, 5), dim=1),
]

SIZES = [
    dict(shape=(4096,)),
    dict(shape=(1024, 1024), dim=1),
    dict(shape=(8192, 8192), dim=0),
    dict(shape=(131072, 1024), dim=1, correction=0),
    dict(shape=(134217728,)),
]


def magnitude(input, dim=None, correction=1, keepdim=False, out=None):
    """A running mean is rounded at each of its steps, relative to itself: in one pass (Welford) that moves the deviation by some 2^-25 of
    the mean, 2^-23 where it moves it most. A sixteenth of the mean makes 2^-23 of it."""
    return input.double().mean(dim, keepdim=keepdim).abs() / 16


CONTRACT = Close(scale=magnitude)


def std(input: torch.Tensor, dim=None, correction=1, keepdim=False, out=None) -> torch.Tensor:
    if out is None:
        return torch.std(input, dim, correction=correction, keepdim=keepdim)
    return torch.std(input, dim, correction=correction, keepdim=keepdim, out=out)


def inputs(make, shape, dim=None, correction=1, keepdim=False, offset=0.0, strided=False, out=False):
    """``offset``: a mean that is far larger than the deviation."""
    x = make.plain(*shape) + offset if offset else make.floats(*shape)
    target = torch.full_like(x.sum(dim, keepdim=keepdim), -1.0) if out else None
    return call(make.strided(x) if strided else x, dim=dim, correction=correction, keepdim=keepdim, out=target)


def _dims(x, dim):
    """What is reduced, and the number of elements."""
    dims = tuple(range(x.dim())) if dim is None else (dim,) if isinstance(dim, int) else dim
    return dims, torch.Size(x.shape[d] for d in dims).numel()


def _given(result, out):
    return result if out is None else out.copy_(result)


def _deviation(x, dim, correction, keepdim):
    dims, n = _dims(x, dim)
    squares = (x - x.mean(dims, keepdim=True)).square().sum(dims, keepdim=keepdim)
    return (squares / torch.tensor(max(0, n - correction), device=x.device)).sqrt()


def positive_two_passes(input, dim=None, correction=1, keepdim=False, out=None):
    return _given(_deviation(input, dim, correction, keepdim), out)


def positive_shifted(input, dim=None, correction=1, keepdim=False, out=None):
    """One pass: sums of the distances from the first element, and of their squares."""
    dims, n = _dims(input, dim)
    if not input.numel():
        return _given(_deviation(input, dim, correction, keepdim), out)
    first = input
    for d in dims:
        first = first.narrow(d, 0, 1)
    d = (input - first).double()
    squares = d.square().sum(dims, keepdim=keepdim) - d.sum(dims, keepdim=keepdim) ** 2 / n
    variance = squares.clamp(min=0) / torch.tensor(max(0, n - correction), device=input.device)
    return _given(variance.sqrt().to(input.dtype), out)


def negative_ignores_correction(input, dim=None, correction=1, keepdim=False, out=None):
    return _given(torch.std(input, dim, keepdim=keepdim), out)


def negative_biased(input, dim=None, correction=1, keepdim=False, out=None):
    return _given(torch.std(input, dim, correction=0, keepdim=keepdim), out)


def negative_negative_divisor(input, dim=None, correction=1, keepdim=False, out=None):
    """N - correction below 0: the root of a negative number."""
    dims, n = _dims(input, dim)
    variance = torch.var(input, dims, correction=0, keepdim=keepdim) * n
    return _given((variance / torch.tensor(n - correction, device=input.device)).sqrt(), out)


def negative_variance(input, dim=None, correction=1, keepdim=False, out=None):
    return _given(torch.var(input, dim, correction=correction, keepdim=keepdim), out)


def negative_one_pass(input, dim=None, correction=1, keepdim=False, out=None):
    """E[x²] - E[x]² in float32: loses the variance behind a large mean."""
    dims, n = _dims(input, dim)
    variance = input.square().mean(dims, keepdim=keepdim) - input.mean(dims, keepdim=keepdim).square()
    return _given((variance.clamp(min=0) * n / torch.tensor(max(0, n - correction), device=input.device)).sqrt(), out)


def negative_mean_of_deviations(input, dim=None, correction=1, keepdim=False, out=None):
    """One dimension after the other."""
    dims, _ = _dims(input, dim)
    result = torch.std(input, dims[0], correction=correction, keepdim=True)
    return _given(result.mean(dims, keepdim=keepdim), out)


def negative_padded_lanes(input, dim=None, correction=1, keepdim=False, out=None):
    """Lanes beyond the end count as zeros in the squares of (x - mean)."""
    dims, n = _dims(input, dim)
    mean = input.mean(dims, keepdim=True)
    squares = (input - mean).square().sum(dims, keepdim=True) + mean.square() * (-n % 16)
    result = (squares / torch.tensor(max(0, n - correction), device=input.device)).sqrt()
    return _given(result if keepdim else result.sum(dims), out)


def negative_ignores_out(input, dim=None, correction=1, keepdim=False, out=None):
    return torch.std(input, dim, correction=correction, keepdim=keepdim)
