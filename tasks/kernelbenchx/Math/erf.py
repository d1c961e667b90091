"""Error function, element by element.

`erf(input_tensor)` returns

    erf(x) = 2 / sqrt(pi) · ∫ exp(-t²) dt from 0 to x

for every element of a floating-point tensor of any shape, as a new tensor of its shape and dtype with any strides.
`erf` is odd; infinities give `±1`, NaN gives NaN. Small `x` must keep their relative accuracy: `erf(x)` is near
`1.1283792 · x` there. Half precision is computed in float32 and rounded at the end. `input_tensor` may be
non-contiguous or empty.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("elementwise", "special-function", "memory-bound")
MAGNITUDES = (-52, 120)

CASES = [
    dict(shape=(1,)),
    dict(shape=(4099,)),
    dict(shape=(257,), low=-4.0, high=4.0),
    dict(shape=(37, 65)),
    dict(shape=(7, 129), low=-10.0, high=-3.0),
    dict(shape=(17, 45), strided=True),
    dict(shape=(3, 0)),
    dict(shape=(2, 3, 65)),
    dict(shape=(5, 77), special=True),
    dict(shape=(6, 65), dtype=torch.float16),
]

SIZES = [dict(shape=(4096,)), dict(shape=(1048576,)), dict(shape=(4096, 4096)), dict(shape=(134217728,))]

CONTRACT = Close()


def erf(input_tensor):
    return torch.special.erf(input_tensor)


def inputs(make, shape, low=None, high=None, dtype=None, special=False, strided=False):
    x = make.floats(*shape, low=low, high=high, dtype=dtype)
    if special:
        x[0, :5] = torch.tensor([float("inf"), -float("inf"), float("nan"), -0.0, 1e-30])
    return call(make.strided(x) if strided else x)


def positive_series(input_tensor):
    """2 / sqrt(pi) · exp(-x²) · (x + 2 x³/3 + 4 x⁵/15 + …): no term changes the sign."""
    x = input_tensor.float().clamp(-4, 4)
    term = total = x
    for n in range(1, 64):
        term = term * (2 * x * x) / (2 * n + 1)
        total = total + term
    return (1.1283791670955126 * torch.exp(-x * x) * total).to(input_tensor.dtype)


def positive_complement(input_tensor):
    """1 - erfc(|x|) where that does not cancel, else the first terms of the Maclaurin series."""
    x = input_tensor.float()
    z, large = x * x, torch.copysign(1 - torch.erfc(x.abs()), x)
    small = x * (1 - z * (1 / 3 - z * (1 / 10 - z * (1 / 42 - z * (1 / 216 - z * (1 / 1320 - z / 9360))))))
    return torch.where(z < 0.3, 1.1283791670955126 * small, large).to(input_tensor.dtype)


def negative_tanh(input_tensor):
    """The approximation of the tanh form of GELU."""
    x = input_tensor * 1.4142135623730951
    return torch.tanh(0.7978845608028654 * (x + 0.044715 * x**3))


def negative_complementary(input_tensor):
    return torch.erfc(input_tensor)


def negative_even(input_tensor):
    """Forgets the sign."""
    return torch.erf(input_tensor.abs())


def negative_short_series(input_tensor):
    x = input_tensor.clamp(-1, 1)
    return 1.1283791670955126 * x * (1 - x * x / 3)


def negative_cancels_at_zero(input_tensor):
    """Five-term approximation of 1 - erfc: an absolute error of 1.5e-7, also for small x."""
    t = 1 / (1 + 0.3275911 * input_tensor.abs())
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return torch.copysign(1 - poly * torch.exp(-input_tensor * input_tensor), input_tensor)
