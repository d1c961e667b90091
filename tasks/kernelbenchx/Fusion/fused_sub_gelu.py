"""Scaled subtraction followed by the Gaussian error linear unit.

`fused_sub_gelu(input, other, alpha=1, approximate='none', out=None)` computes `gelu(input - alpha · other)`.

- `input`: a float32 tensor. `other`: a float32 tensor, or a Python number; tensors broadcast by PyTorch's rules, and
  the result has the broadcast shape.
- `alpha`: a Python number that multiplies `other` alone.
- `approximate='none'`: `gelu(x) = x · Φ(x)` with Φ the standard normal distribution function,
  `Φ(x) = (1 + erf(x / √2)) / 2`.
- `approximate='tanh'`: `gelu(x) = x/2 · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))`. The two forms differ by up to 5e-4
  and are told apart.
- `out`: if given, a contiguous float32 tensor of the result's shape; it is filled and returned.

Arguments may be non-contiguous, expanded or empty; without `out` the result is a new tensor with any strides.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, broadcast, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("elementwise", "broadcast", "memory-bound", "fusion")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(1021,), other=(1021,), alpha=0.5),
    dict(shape=(37,), other=(37,)),
    dict(shape=(2053,), other=(2053,), alpha=0.5, approximate="tanh"),
    dict(shape=(257,), other=(257,), approximate="tanh"),
    dict(shape=(7,), other=(7,), alpha=0.5),
    dict(shape=(1,), other=(1,)),
    dict(shape=(515,), other=(515,), alpha=-2),
    dict(shape=(131,), other=-0.25, approximate="tanh"),
    dict(shape=(263,), other=(263,), out=True),
    dict(shape=(129,), other=(129,), strided=True),
    dict(shape=(4, 29), other=(4, 29), expanded=True),
    dict(shape=(6, 1, 35), other=(3, 1), out=True),
    dict(shape=(33,), other=()),
    dict(shape=(0,), other=(0,)),
]

SIZES = [
    dict(shape=(4096,), other=(4096,)),
    dict(shape=(524288,), other=(524288,)),
    dict(shape=(33554432,), other=(33554432,), alpha=0.5, approximate="tanh"),
    dict(shape=(100663296,), other=(100663296,)),
]


def magnitude(input, other, alpha=1, approximate="none", out=None):
    """What is left of the difference by cancellation, and of 1 + erf, carries the rounding of the terms."""
    return 1 + input.double().abs() + abs(alpha * other)


CONTRACT = Close(scale=magnitude)


def fused_sub_gelu(input, other, alpha=1, approximate="none", out=None):
    result = F.gelu(torch.sub(input, other, alpha=alpha), approximate=approximate)
    return result if out is None else out.copy_(result)


def inputs(make, shape, other, alpha=1, approximate="none", strided=False, expanded=False, out=False):
    x = make.floats(*shape)
    y = make.floats(*other) if isinstance(other, tuple) else other
    if strided:
        x, y = make.strided(x), make.strided(y)
    if expanded:
        y = make.expanded(make.floats(shape[0], 1), *shape)
    target = make.plain(*broadcast(shape, other if isinstance(other, tuple) else ())) if out else None
    return call(x, y, alpha=alpha, approximate=approximate, out=target)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_erf_and_sigmoid(input, other, alpha=1, approximate="none", out=None):
    """erf written out; tanh through the logistic function, (1 + tanh(z)) / 2 = σ(2z)."""
    x = input + other * -alpha
    if approximate == "none":
        return _given(0.5 * x * (1 + torch.erf(x * 0.5**0.5)), out)
    return _given(x * torch.sigmoid(2 * (2 / torch.pi) ** 0.5 * (x + 0.044715 * x * x * x)), out)


def positive_complementary_erf(input, other, alpha=1, approximate="none", out=None):
    """Φ(x) = erfc(-x / √2) / 2, which does not cancel for negative x; tanh from an exponential."""
    x = input - other * alpha
    if approximate == "none":
        return _given(0.5 * x * torch.erfc(x * -(0.5**0.5)), out)
    return _given(x / (1 + torch.exp(-2 * (2 / torch.pi) ** 0.5 * (x + 0.044715 * x * x * x))), out)


def negative_adds(input, other, alpha=1, approximate="none", out=None):
    return _given(F.gelu(input + alpha * other, approximate=approximate), out)


def negative_alpha_on_difference(input, other, alpha=1, approximate="none", out=None):
    return _given(F.gelu(alpha * (input - other), approximate=approximate), out)


def negative_always_tanh(input, other, alpha=1, approximate="none", out=None):
    return _given(F.gelu(input - alpha * other, approximate="tanh"), out)


def negative_always_erf(input, other, alpha=1, approximate="none", out=None):
    return _given(F.gelu(input - alpha * other), out)


def negative_ignores_out(input, other, alpha=1, approximate="none", out=None):
    return F.gelu(input - alpha * other, approximate=approximate)
