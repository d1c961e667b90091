"""Mean of a scaled sum over one, several or all dimensions.

`fused_add_mean(input, other, dim=None, alpha=1, keepdim=False, dtype=None, out=None)` computes
`mean(input + alpha · other, dim)`.

- `input`: a float32 or integer tensor. `other`: a tensor of the same dtype, or a Python number. Tensors broadcast by
  PyTorch's rules; the mean is that of the broadcast sum. `alpha`: a Python number (an int if the tensors are integers).
- `dim`: an int, a tuple of ints, or `None` for all dimensions; negative values count from the end.
- `keepdim=True` keeps the reduced dimensions with size 1 (`dim=None`: all of them), otherwise they are removed.
- `dtype`: the sum `input + alpha · other` is made in the tensors' own dtype, then converted to `dtype`, in which the
  mean is taken and returned. Integers always come with a floating-point `dtype`.
- `out`: if given, a contiguous tensor of the result's shape and dtype; it is filled and returned.

Arguments may be non-contiguous, expanded or empty. The mean over no elements is NaN. The result's strides are not
promised.
"""

import torch

from kbx.suite import Close, call, in_order

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("reduction", "broadcast", "memory-bound", "fusion")
MAGNITUDES = (-52, 120)

CASES = [
    dict(shape=(1037,), other=(1037,), alpha=0.5),
    dict(shape=(33, 65), other=(33, 65), dim=1),
    dict(shape=(17, 45), other=(17, 45), dim=0, alpha=2, keepdim=True),
    dict(shape=(5, 131), other=0.5, keepdim=True),
    dict(shape=(71, 13), other=(71, 13), dim=1, alpha=1.5, keepdim=True),
    dict(shape=(1,), other=(1,)),
    dict(shape=(29, 61), other=(29, 61), dim=1, strided=True),
    dict(shape=(17, 1), other=(1, 45), dim=0, keepdim=True),
    dict(shape=(23, 37), other=(23, 37), dim=-1, keepdim=True),
    dict(shape=(5, 13, 21), other=(5, 13, 21), dim=(0, -1)),
    dict(shape=(41, 19), other=(41, 19), dim=0, out=True),
    dict(shape=(9, 34), other=(9, 34), dim=1, dtype=torch.float64),
    dict(shape=(11, 19), other=(11, 19), dim=1, alpha=2, dtype=torch.float32, integers=True),
    dict(shape=(4, 0), other=(4, 0), dim=1),
]

SIZES = [
    dict(shape=(4096,), other=(4096,)),
    dict(shape=(1024, 1024), other=(1024, 1024), dim=1),
    dict(shape=(4096, 8192), other=(4096, 8192), dim=0),
    dict(shape=(134217728,), other=(134217728,)),
]


def magnitude(input, other, dim=None, alpha=1, keepdim=False, dtype=None, out=None):
    """Rounding errors grow with the terms, which may be added up in order, not with what is left of them by cancellation."""
    terms = input.abs() + (alpha * torch.as_tensor(other, device=input.device)).abs()
    count = terms.numel() / max(1, terms.sum(dim, keepdim=True).numel())
    return torch.linalg.vector_norm(terms.double(), dim=dim, keepdim=keepdim) / max(1, count) * in_order(int(count))


CONTRACT = Close(scale=magnitude)


def fused_add_mean(input, other, dim=None, alpha=1, keepdim=False, dtype=None, out=None):
    result = torch.mean(torch.add(input, other, alpha=alpha), dim, keepdim=keepdim, dtype=dtype)
    return result if out is None else out.copy_(result)


def inputs(make, shape, other, dim=None, alpha=1, keepdim=False, dtype=None, integers=False, strided=False, out=False):
    def numbers(size):
        return make.ints(*size, low=-100, high=100, dtype=torch.int32) if integers else make.floats(*size)

    x, y = numbers(shape), numbers(other) if isinstance(other, tuple) else other
    if strided:
        x, y = make.strided(x), make.strided(y)
    target = torch.full_like(fused_add_mean(x, y, dim, alpha, keepdim, dtype), 7.0) if out else None
    return call(x, y, dim=dim, alpha=alpha, keepdim=keepdim, dtype=dtype, out=target)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_two_means(input, other, dim=None, alpha=1, keepdim=False, dtype=None, out=None):
    """mean(input) + alpha · mean(other), each divided before it is summed, one dimension after the other."""
    x, y = torch.broadcast_tensors(input, torch.as_tensor(other, dtype=input.dtype, device=input.device))
    dims = range(x.dim()) if dim is None else (dim,) if isinstance(dim, int) else dim
    x, y = (t.to(dtype or t.dtype) for t in (x, y))
    for d in sorted((d % x.dim() for d in dims), reverse=True):
        x, y = ((t / t.shape[d] if t.shape[d] else t * torch.nan).sum(d, keepdim=True) for t in (x, y))
        x = x / 0 if not input.numel() else x
        x, y = (x, y) if keepdim else (x.squeeze(d), y.squeeze(d))
    return _given(x + alpha * y, out)


def negative_ignores_alpha(input, other, dim=None, alpha=1, keepdim=False, dtype=None, out=None):
    return _given(torch.mean(input + other, dim, keepdim=keepdim, dtype=dtype), out)


def negative_sum(input, other, dim=None, alpha=1, keepdim=False, dtype=None, out=None):
    return _given(torch.sum(torch.add(input, other, alpha=alpha), dim, keepdim=keepdim, dtype=dtype), out)


def negative_last_dimension_only(input, other, dim=None, alpha=1, keepdim=False, dtype=None, out=None):
    dim = -1 if isinstance(dim, tuple) else dim
    result = torch.mean(torch.add(input, other, alpha=alpha), dim, keepdim=keepdim, dtype=dtype)
    return result if out is None or out.shape != result.shape else out.copy_(result)


def negative_drops_keepdim(input, other, dim=None, alpha=1, keepdim=False, dtype=None, out=None):
    return _given(torch.mean(torch.add(input, other, alpha=alpha), dim, dtype=dtype), out)


def negative_mean_of_padded_row(input, other, dim=None, alpha=1, keepdim=False, dtype=None, out=None):
    """Divides by the count rounded up to a power of two."""
    z = torch.add(input, other, alpha=alpha)
    result = torch.mean(z, dim, keepdim=keepdim, dtype=dtype)
    count = z.numel() // max(1, result.numel())
    return _given(result * (count / (1 << max(0, count - 1).bit_length())), out)


def negative_ignores_out(input, other, dim=None, alpha=1, keepdim=False, dtype=None, out=None):
    return torch.mean(torch.add(input, other, alpha=alpha), dim, keepdim=keepdim, dtype=dtype)
