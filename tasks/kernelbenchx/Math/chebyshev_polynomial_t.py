"""Chebyshev polynomial of the first kind, element by element.

`chebyshev_polynomial_t(input, n, out=None)` returns `T_n(x)` for every element of a float32 tensor of any shape, for
one degree `n`, a Python int:

    T_0(x) = 1,      T_1(x) = x,      T_{k+1}(x) = 2 x · T_k(x) - T_{k-1}(x),

and 0 for negative `n`. For `|x| ≤ 1` that is `cos(n · arccos x)`; outside, `|T_n(x)| = cosh(n · arcosh |x|)` grows
fast, with the sign of `x` for odd `n`. No result overflows. `T_0` and negative `n` do not depend on `x`, NaN or not;
otherwise NaN gives NaN.

Either form is accurate enough: errors may grow with `n`, and with `n²` near `x = ±1`. `out`: if given, a contiguous
float32 tensor of the input's shape; it is filled and returned. Otherwise the result is a new tensor with any strides.
`input` may be non-contiguous or empty.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("elementwise", "special-function", "memory-bound")

CASES = [
    dict(shape=(4099,), n=5),
    dict(shape=(37, 65), n=10),
    dict(shape=(257,), n=3),
    dict(shape=(29,), n=1),
    dict(shape=(31,), n=0),
    dict(shape=(1,), n=3),
    dict(shape=(301,), n=40),
    dict(shape=(33,), n=-1),
    dict(shape=(17, 45), n=10, strided=True),
    dict(shape=(5, 33), n=6, out=True),
    dict(shape=(35,), n=9, factor=2.0),
    dict(shape=(77,), n=2, special=True),
    dict(shape=(3, 0), n=4),
    dict(shape=(2, 3, 65), n=4),
]

SIZES = [
    dict(shape=(4096,), n=5),
    dict(shape=(1048576,), n=10),
    dict(shape=(4096, 4096), n=5),
    dict(shape=(134217728,), n=8),
]


def magnitude(input, n, out=None):
    """The polynomial's slope times x: n |x| / sqrt(|1 - x²|), at most n²; the recurrence errs like that too."""
    x = input.abs().nan_to_num(0)
    slope = x / ((1 - x * x).abs() + 1 / max(n, 1) ** 2).sqrt()
    return torch.special.chebyshev_polynomial_t(input, n).abs().clamp(min=1) * (1 + max(n, 0) * slope)


CONTRACT = Close(scale=magnitude)


def chebyshev_polynomial_t(input: torch.Tensor, n: int, out: torch.Tensor = None) -> torch.Tensor:
    return torch.special.chebyshev_polynomial_t(input, n, out=out)


def inputs(make, shape, n, factor=1.0, special=False, strided=False, out=False):
    """`factor` bounds |x|: of high degrees, only the largest values would count, or overflow."""
    x = make.floats(*shape, low=-1.0, high=1.0) * factor
    if special:
        x[:5] = torch.tensor([float("nan"), 1.0, -1.0, 0.0, 0.5])
    return call(make.strided(x) if strided else x, n, out=torch.zeros_like(x) if out else None)


def _given(result, out):
    return result if out is None else out.copy_(result)


def _recurrence(x, n, second):
    """Degree n of the recurrence that begins with 1 and `second`."""
    before, now = torch.ones_like(x), second
    for _ in range(n - 1):
        before, now = now, 2 * x * now - before
    return now if n > 0 else before * (n == 0)


def positive_recurrence(input, n, out=None):
    return _given(_recurrence(input, n, input.clone()), out)


def positive_trigonometric(input, n, out=None):
    """Cosines inside, hyperbolic cosines outside, for every degree but the lowest."""
    if n < 1:
        return _given(torch.full_like(input, float(n == 0)), out)
    x = input.abs()
    outside = torch.cosh(n * torch.acosh(x.clamp(min=1))) * (torch.sign(input) if n % 2 else 1)
    return _given(torch.where(x > 1, outside, torch.cos(n * torch.acos(input.clamp(-1, 1)))), out)


def negative_second_kind(input, n, out=None):
    return _given(_recurrence(input, n, 2 * input), out)


def negative_one_degree_more(input, n, out=None):
    return _given(_recurrence(input, n + 1, input), out)


def negative_leading_term(input, n, out=None):
    return _given(2.0 ** (n - 1) * input**n if n > 0 else torch.ones_like(input), out)


def negative_cosine_everywhere(input, n, out=None):
    """NaN outside [-1, 1]."""
    return _given(torch.cos(n * torch.acos(input)), out)


def negative_sign_lost_outside(input, n, out=None):
    result = torch.special.chebyshev_polynomial_t(input, n)
    return _given(torch.where(input < -1, result.abs(), result), out)


def negative_ignores_out(input, n, out=None):
    return torch.special.chebyshev_polynomial_t(input, n)
