"""Cosine, element by element.

`cos(input_tensor)` returns `cos(x)`, `x` in radians, for every element of a floating-point tensor of any shape, as a new
tensor of its shape and dtype with any strides.

`x` may be as large as 10⁷, where a float32 holds no fraction any more: the argument is exact as given and must be
reduced accurately, so that the result's error stays near the dtype's roundoff, relative to 1. NaN and infinity give
NaN. Half precision is computed in float32 and rounded at the end. `input_tensor` may be non-contiguous or empty.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 1
DTYPE = "float32"
TAGS = ("elementwise", "memory-bound")
MAGNITUDES = (-104, 32)

CASES = [
    dict(shape=(1,)),
    dict(shape=(4099,)),
    dict(shape=(1021,), factor=5.0),
    dict(shape=(37, 65)),
    dict(shape=(301,), factor=5.0),
    dict(shape=(17, 45), strided=True),
    dict(shape=(3, 0)),
    dict(shape=(2, 3, 65)),
    dict(shape=(6, 65), dtype=torch.float16),
    dict(shape=(300,), factor=1e2),
    dict(shape=(5, 76), factor=1e4),
    dict(shape=(5, 77), special=True),
]

SIZES = [dict(shape=(4096,)), dict(shape=(1048576,)), dict(shape=(4096, 4096)), dict(shape=(134217728,))]

# Near a zero, formulas such as 1 - 2 sin²(x / 2) err relative to 1.
CONTRACT = Close(scale=1.0)


def cos(input_tensor):
    return torch.cos(input_tensor)


def inputs(make, shape, factor=1.0, dtype=None, special=False, strided=False):
    x = make.floats(*shape, dtype=dtype) * factor
    if special:
        x[0, :3] = torch.tensor([float("inf"), -float("inf"), float("nan")])
    return call(make.strided(x) if strided else x)


def positive_half_angle(input_tensor):
    """1 - 2 sin²(x / 2)."""
    return (1 - 2 * (input_tensor.float() / 2).sin().square()).to(input_tensor.dtype)


def positive_taylor(input_tensor):
    """Nearest multiple of pi/2 taken off in double precision, then the Taylor polynomials of cosine and sine in single."""
    x = input_tensor.double()
    k = (x / 1.5707963267948966).round()
    r = (x - k * 1.5707963267948966).float()
    z, quadrant = r * r, k.nan_to_num(0, 0, 0).long() % 4
    even = 1 - z / 2 * (1 - z / 12 * (1 - z / 30 * (1 - z / 56 * (1 - z / 90))))
    odd = r * (1 - z / 6 * (1 - z / 20 * (1 - z / 42 * (1 - z / 72 * (1 - z / 110)))))
    result = torch.where(quadrant % 2 == 0, even, odd)
    return torch.where((quadrant == 1) | (quadrant == 2), -result, result).to(input_tensor.dtype)


def negative_sine(input_tensor):
    return torch.sin(input_tensor)


def negative_single_precision_reduction(input_tensor):
    """Takes off multiples of a rounded 2 pi."""
    period = torch.tensor(6.2831853071795864, dtype=input_tensor.dtype, device=input_tensor.device)
    return torch.cos(input_tensor - period * (input_tensor / period).round())


def negative_polynomial_without_reduction(input_tensor):
    z = input_tensor * input_tensor
    return 1 - z / 2 * (1 - z / 12 * (1 - z / 30 * (1 - z / 56)))


def negative_clamped(input_tensor):
    return torch.cos(input_tensor.clamp(-1e4, 1e4))
