"""Elements picked by a mask, plus a scaled term, then the Gaussian error linear unit.

`fused_masked_select_add_gelu(input, mask, other, *, alpha=1, approximate='none', out=None)`

1. `input` (float32) and `mask` (bool) broadcast against each other by PyTorch's rules; `z` is the vector of `input`'s
   elements at the true places of `mask`, in row-major order of the broadcast shape. Its length `n` may be 0.
2. `s = z + alpha · other`. `other` is a Python number, or a float32 tensor with no dimension, one element, or `n`
   elements in a vector; element `i` of it belongs to element `i` of `z`. `alpha` is a Python number.
3. The result is `gelu(s)`: `s · Φ(s)`, `Φ(s) = (1 + erf(s / √2)) / 2` for `approximate='none'`, and
   `s/2 · (1 + tanh(√(2/π) · (s + 0.044715 · s³)))` for `'tanh'`. The two differ by up to 5e-4 and are told apart.

`out`: if given, a contiguous float32 vector of `n` elements; it is filled and returned. Otherwise the result is a new,
contiguous vector. Arguments may be non-contiguous, expanded or empty.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, broadcast, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("index", "elementwise", "memory-bound", "fusion")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(1037,), mask=(1037,), density=0.7),
    dict(shape=(1531,), mask=(1531,), other=0.1, alpha=0.5, approximate="tanh"),
    dict(shape=(257,), mask=(257,), other=2.0, alpha=0.5, out=True),
    dict(shape=(37,), mask=(37,), other=1.0, approximate="tanh", out=True),
    dict(shape=(4099,), mask=(4099,), density=0.3, other=1.5),
    dict(shape=(1,), mask=(1,), density=1.0),
    dict(shape=(1021,), mask=(1021,), other="vector"),
    dict(shape=(201,), mask=(201,), alpha=-0.5),
    dict(shape=(37, 45), mask=(37, 45), density=0.1, approximate="tanh"),
    dict(shape=(515,), mask=(515,), strided=True),
    dict(shape=(5, 1, 33), mask=(7, 1), density=0.7, other="tensor", out=True),
    dict(shape=(180,), mask=(180,), density=0.0, other="vector"),
    dict(shape=(0,), mask=(0,)),
]

SIZES = [
    dict(shape=(4096,), mask=(4096,), other=0.1),
    dict(shape=(1048576,), mask=(1048576,), other=1.0, alpha=0.5),
    dict(shape=(16777216,), mask=(16777216,), other=0.5, approximate="tanh"),
    dict(shape=(134217728,), mask=(134217728,), other=2.0),
]


def magnitude(input, mask, other, *, alpha=1, approximate="none", out=None):
    """What is left of the sum by cancellation, and of 1 + erf, carries the rounding of the terms."""
    return 1 + torch.masked_select(input, mask).abs() + abs(alpha * other)


CONTRACT = Close(scale=magnitude, strides="contiguous")


def fused_masked_select_add_gelu(input, mask, other, *, alpha=1, approximate="none", out=None):
    sum_ = torch.add(torch.masked_select(input, mask), other, alpha=alpha)
    result = F.gelu(sum_, approximate=approximate)
    return result if out is None else out.copy_(result)


def inputs(make, shape, mask, density=0.5, other=0.5, alpha=1, approximate="none", strided=False, out=False):
    x, m = make.floats(*shape), make.bools(*mask, p=density)
    count = int(m.expand(broadcast(shape, mask)).sum())
    y = make.floats(count) if other == "vector" else make.floats() if other == "tensor" else other
    if strided:
        x, m = make.strided(x), make.strided(m)
    return call(x, m, y, alpha=alpha, approximate=approximate, out=make.plain(count) if out else None)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_prefix_sum(input, mask, other, *, alpha=1, approximate="none", out=None):
    """Each true place writes to the number of true places before it; GELU written out."""
    x, m = (t.reshape(-1) for t in torch.broadcast_tensors(input, mask))
    place = m.cumsum(0) - 1
    z = torch.empty(int(m.sum()), dtype=input.dtype, device=input.device)
    z[place[m]] = x[m]
    s = z + other * alpha
    if approximate == "none":
        return _given(0.5 * s * (1 + torch.erf(s * 0.5**0.5)), out)
    return _given(s * torch.sigmoid(2 * (2 / torch.pi) ** 0.5 * (s + 0.044715 * s * s * s)), out)


def negative_ignores_alpha(input, mask, other, *, alpha=1, approximate="none", out=None):
    return _given(F.gelu(torch.masked_select(input, mask) + other, approximate=approximate), out)


def negative_always_erf(input, mask, other, *, alpha=1, approximate="none", out=None):
    return _given(F.gelu(torch.masked_select(input, mask) + alpha * other), out)


def negative_inverted_mask(input, mask, other, *, alpha=1, approximate="none", out=None):
    z = torch.masked_select(input, ~mask)
    n = int(mask.expand(torch.broadcast_shapes(input.shape, mask.shape)).sum())
    z = torch.cat((z, z.new_zeros(n)))[:n]
    return _given(F.gelu(z + alpha * other, approximate=approximate), out)


def negative_column_order(input, mask, other, *, alpha=1, approximate="none", out=None):
    x, m = torch.broadcast_tensors(input, mask)
    z = x.permute(*reversed(range(x.dim())))[m.permute(*reversed(range(m.dim())))]
    return _given(F.gelu(z + alpha * other, approximate=approximate), out)


def negative_zeros_left_in_place(input, mask, other, *, alpha=1, approximate="none", out=None):
    z = torch.where(mask, input, torch.zeros_like(input)).reshape(-1)
    y = other.reshape(-1)[:1] if isinstance(other, torch.Tensor) and other.numel() else 0.0
    return F.gelu(z + alpha * y, approximate=approximate)


def negative_ignores_out(input, mask, other, *, alpha=1, approximate="none", out=None):
    return F.gelu(torch.masked_select(input, mask) + alpha * other, approximate=approximate)
