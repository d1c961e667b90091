"""Hurwitz zeta function, element by element.

`zeta(input, other, out=None)` returns, for `x` from `input` and `q` from `other`,

    zeta(x, q) = sum over k ≥ 0 of 1 / (k + q)^x.

`q = 1` gives Riemann's function. Both are float32 tensors and broadcast by PyTorch's rules. Where the sum does not
converge, or is not real:

- `x = 1` gives `inf`, `x < 1` NaN;
- otherwise `q = 0, -1, -2, …` gives `inf`, and other negative `q` NaN unless `x` is an integer; then it is the sum as
  written.

NaN in `input` gives NaN; other NaN, and infinities, do not occur, and no sum overflows.

`out`: if given, a contiguous float32 tensor of the broadcast shape; it is filled and returned. Otherwise the result is
a new tensor with any strides. Arguments may be non-contiguous, expanded or empty.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("elementwise", "broadcast", "special-function", "memory-bound")

CASES = [
    dict(shape=(4099,), other=(4099,)),
    dict(shape=(257,), other=(257,), x=(8.0, 20.0), q=(1.0, 1.2)),
    dict(shape=(37, 65), other=(37, 65)),
    dict(shape=(33, 31), other=(33, 31), x=(2.0, 4.0), q=(5.0, 21.0)),
    dict(shape=(1021,), other=(1021,), edges=True),
    dict(shape=(1,), other=(1,)),
    dict(shape=(17, 45), other=(17, 45), strided=True),
    dict(shape=(7, 1), other=(1, 11)),
    dict(shape=(5, 33), other=(5, 33), out=True),
    dict(shape=(2, 3, 11), other=(2, 3, 11)),
    dict(shape=(301,), other=(301,), x=(1.01, 1.5)),
    dict(shape=(201,), other=(201,), q=(0.5, 0.9)),
    dict(shape=(129,), other=(129,), x=(2.0, 4.0), q=(20.0, 50.0)),
    dict(shape=(77,), other=(77,), special=True),
    dict(shape=(0, 9), other=(0, 9)),
]

SIZES = [
    dict(shape=(4096,), other=(4096,)),
    dict(shape=(1048576,), other=(1048576,)),
    dict(shape=(4096, 4096), other=(4096, 4096)),
    dict(shape=(67108864,), other=(67108864,)),
]


def magnitude(input, other, out=None):
    """A rounding of the exponent x log(k + q) is a relative error of a term."""
    growth = 1 + (input * torch.log(other.abs().clamp(min=1e-3))).abs()
    return (torch.special.zeta(input, other).abs() * growth).nan_to_num(0, 0, 0)


CONTRACT = Close(scale=magnitude)


def zeta(input: torch.Tensor, other: torch.Tensor, out: torch.Tensor = None) -> torch.Tensor:
    return torch.special.zeta(input, other, out=out)


def inputs(make, shape, other, x=(2.0, 6.0), q=(1.0, 10.0), edges=False, special=False, strided=False, out=False):
    """Ranges of x and q are narrow: next to large values no others would count. `edges`: no sum converges."""
    a, b = make.floats(*shape, low=x[0], high=x[1]), make.plain(*other, low=q[0], high=q[1])
    if edges:
        a[:3] = torch.tensor([-3.0, -2.0, -2.5])
    if edges:
        a[:3] = torch.tensor([-3.0, -2.0, -2.5])
    if edges:
        a[:3] = torch.tensor([-3.0, -2.0, -2.5])
    if special:
        a[:11] = torch.tensor([1.0, 0.5, -2.0, 2.0, 2.5, 2.0, 3.0, 2.5, float("nan"), 1.0, 4.0])
        b[:11] = torch.tensor([2.0, 2.0, 1.0, 0.0, -3.0, -1.5, -2.75, -1.5, 1.0, -1.0, -0.5])
    if strided:
        a, b = make.strided(a), make.strided(b)
    return call(a, b, out=torch.zeros_like(a + b) if out else None)


def _given(result, out):
    return result if out is None else out.copy_(result)


def _summed(x, q, count, corrections):
    """`count` terms, the integral over the rest, half a term, and corrections by Euler and Maclaurin."""
    total = sum(torch.pow(q + k, -x) for k in range(count))
    a = q + count
    last = torch.pow(a, -x)
    total = total + last * (a / (x - 1) + 0.5)
    factor = x / a
    for j, c in enumerate((1 / 12, -1 / 720, 1 / 30240, -1 / 1209600)[:corrections]):
        total = total + last * factor * c
        factor = factor * (x + 2 * j + 1) * (x + 2 * j + 2) / (a * a)
    return total


def _with_edges(x, q, result):
    result = torch.where((q <= 0) & (q == q.round()), float("inf"), result)
    result = torch.where((q < 0) & (q != q.round()) & (x != x.round()), float("nan"), result)
    result = torch.where(x < 1, float("nan"), torch.where(x == 1, float("inf"), result))
    return torch.where(x.isnan(), x, result)


def positive_euler_maclaurin(input, other, out=None):
    return _given(_with_edges(input, other, _summed(input, other, 14, 4)), out)


def positive_longer_sum(input, other, out=None):
    """Forty terms and fewer corrections."""
    return _given(_with_edges(input, other, _summed(input, other, 40, 2)), out)


def negative_riemann(input, other, out=None):
    """Ignores q."""
    return _given(torch.special.zeta(input, torch.ones_like(other)).expand_as(input + other), out)


def negative_swapped(input, other, out=None):
    return torch.special.zeta(other, input, out=out)


def negative_starts_at_one(input, other, out=None):
    return torch.special.zeta(input, other + 1, out=out)


def negative_cut_off(input, other, out=None):
    """A hundred terms and nothing for the rest."""
    return _given(_with_edges(input, other, sum(torch.pow(other + k, -input) for k in range(100))), out)


def negative_no_edges(input, other, out=None):
    return _given(_summed(input, other, 14, 4), out)


def negative_ignores_out(input, other, out=None):
    return torch.special.zeta(input, other)
