"""Inverse sine, element by element.

`asin(input_tensor)` returns the angle in `[-pi/2, pi/2]` whose sine is `x`, in radians, for every element of a
floating-point tensor of any shape, as a new tensor of its shape and dtype with any strides.

Outside `[-1, 1]` and for NaN the result is NaN; at `±1` it is `±pi/2`. Accuracy near the ends, where the slope is
infinite, and near 0 is that of the dtype: the argument is exact as given. Half precision is computed in float32 and
rounded at the end. `input_tensor` may be non-contiguous or empty.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 1
DTYPE = "float32"
TAGS = ("elementwise", "memory-bound")
MAGNITUDES = (-52,)

CASES = [
    dict(shape=(1,)),
    dict(shape=(4099,), limit=1.0),
    dict(shape=(401,), limit=1.0, ends=True),
    dict(shape=(37, 65), limit=1.0),
    dict(shape=(0,)),
    dict(shape=(17, 45), limit=1.0, strided=True),
    dict(shape=(5, 77), limit=1.0, special=True),
    dict(shape=(5, 65), factor=3.0),
    dict(shape=(2, 3, 65), limit=1.0),
    dict(shape=(6, 65), limit=1.0, dtype=torch.float16),
]

SIZES = [
    dict(shape=(4096,), limit=1.0),
    dict(shape=(1048576,), limit=1.0),
    dict(shape=(4096, 4096), limit=1.0),
    dict(shape=(134217728,), limit=1.0),
]

CONTRACT = Close()


def asin(input_tensor):
    return torch.asin(input_tensor)


def inputs(make, shape, limit=None, factor=1.0, ends=False, dtype=None, special=False, strided=False):
    """`ends` moves everything to within 0.001 of -1 and 1."""
    x = make.floats(*shape, low=limit and -limit, high=limit, dtype=dtype) * factor
    if ends:
        x = torch.copysign(1 - 1e-3 * x.abs(), x)
    if special:
        x[0, :5] = torch.tensor([float("inf"), -float("inf"), float("nan"), -0.0, 1.0000001])
    return call(make.strided(x) if strided else x)


def positive_half_angle(input_tensor):
    """Series in |x| below 1/2, else pi/2 - 2 asin(sqrt((1 - |x|) / 2))."""
    x = input_tensor.float().abs()
    far = x > 0.5
    s = torch.where(far, ((1 - x) / 2).sqrt(), x)
    z, term, total = s * s, s, s
    for n in range(1, 16):
        term = term * z * ((2 * n - 1) / (2 * n))
        total = total + term / (2 * n + 1)
    result = torch.where(far, 1.5707963267948966 - 2 * total, total)
    return torch.copysign(torch.where(x > 1, float("nan"), result), input_tensor.float()).to(input_tensor.dtype)


def positive_arctangent(input_tensor):
    """atan2(x, sqrt((1 - x) (1 + x)))."""
    x = input_tensor.float()
    return torch.atan2(x, ((1 - x) * (1 + x)).sqrt()).to(input_tensor.dtype)


def negative_arccosine(input_tensor):
    return torch.acos(input_tensor)


def negative_clamped(input_tensor):
    return torch.asin(input_tensor.clamp(-1, 1))


def negative_short_series(input_tensor):
    x, z = input_tensor, input_tensor.square()
    return torch.where(z > 1, float("nan"), x * (1 + z / 6 * (1 + z * 9 / 20 * (1 + z * 25 / 42))))


def negative_approximation_in_seven_digits(input_tensor):
    """pi/2 - sqrt(1 - |x|) · cubic, which is good to 7e-5."""
    x = input_tensor.abs()
    cubic = 1.5707288 + x * (-0.2121144 + x * (0.0742610 - 0.0187293 * x))
    return torch.copysign(1.5707963267948966 - (1 - x).sqrt() * cubic, input_tensor)
