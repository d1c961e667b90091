"""Scaled addition followed by the Gaussian error linear unit.

`fused_add_gelu(input, other, alpha=1, approximate='none', out=None)` computes `gelu(input + alpha · other)`.

- `input`: a float32 tensor. `other`: a float32 tensor, or a Python number; tensors broadcast by PyTorch's rules, and the
  result has the broadcast shape.
- `alpha`: a Python number that multiplies `other`.
- `approximate='none'`: `gelu(x) = x · Φ(x)`, Φ the standard normal distribution function, `Φ(x) = (1 + erf(x / √2)) / 2`.
- `approximate='tanh'`: `gelu(x) = x/2 · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))`. The two differ by up to 5e-4 and are
  told apart.
- `out`: if given, a contiguous float32 tensor of the result's shape; it is filled and returned.

Arguments may be non-contiguous, expanded or empty; without `out` the result is a new tensor with any strides.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, broadcast, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("elementwise", "broadcast", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(1021,), other=(1021,)),
    dict(shape=(33, 65), other=(33, 65), alpha=2),
    dict(shape=(3, 67), other=0.5, alpha=1.5, approximate="tanh"),
    dict(shape=(1531,), other=0.5),
    dict(shape=(1, 131), other=(1, 131), alpha=0.5, approximate="tanh"),
    dict(shape=(1,), other=(1,)),
    dict(shape=(509,), other=(509,), alpha=-0.75),
    dict(shape=(17, 43), other=(17, 43), approximate="tanh", strided=True),
    dict(shape=(17, 1), other=(1, 45)),
    dict(shape=(7, 5, 33), other=(7, 5, 33)),
    dict(shape=(5, 67), other=(5, 67), alpha=2, out=True),
    dict(shape=(4, 31), other=(4, 31), expanded=True),
    dict(shape=(0, 9), other=(0, 9)),
]

SIZES = [
    dict(shape=(4096,), other=(4096,)),
    dict(shape=(512, 1024), other=(512, 1024)),
    dict(shape=(4096, 4096), other=(4096, 4096)),
    dict(shape=(134217728,), other=(134217728,)),
]


def magnitude(input, other, alpha=1, approximate="none", out=None):
    """What is left of the sum by cancellation, and of 1 + erf, carries the rounding of the terms."""
    return 1 + input.double().abs() + abs(alpha * other)


CONTRACT = Close(scale=magnitude, strides="any")


def fused_add_gelu(input, other, alpha=1, approximate="none", out=None):
    result = F.gelu(torch.add(input, other, alpha=alpha), approximate=approximate)
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
    x = input + other * alpha
    if approximate == "none":
        return _given(0.5 * x * (1 + torch.erf(x * 0.5**0.5)), out)
    return _given(x * torch.sigmoid(2 * (2 / torch.pi) ** 0.5 * (x + 0.044715 * x * x * x)), out)


def negative_ignores_alpha(input, other, alpha=1, approximate="none", out=None):
    return _given(F.gelu(input + other, approximate=approximate), out)


def negative_always_tanh(input, other, alpha=1, approximate="none", out=None):
    return _given(F.gelu(input + alpha * other, approximate="tanh"), out)


def negative_always_erf(input, other, alpha=1, approximate="none", out=None):
    return _given(F.gelu(input + alpha * other), out)


def negative_ignores_out(input, other, alpha=1, approximate="none", out=None):
    return F.gelu(input + alpha * other, approximate=approximate)


def negative_sigmoid_gelu(input, other, alpha=1, approximate="none", out=None):
    """x · σ(1.702 x), a third approximation that nobody asked for."""
    x = input + alpha * other
    return _given(x * torch.sigmoid(1.702 * x), out)
