"""Rectified linear unit (ReLU), element by element.

`relu(input, inplace=False)` returns `max(input, 0)` for every element of a floating-point tensor of any shape, in the
dtype and shape of `input`.

- `inplace=False`: the result is a new tensor and `input` is left as it was.
- `inplace=True`: the result is written into `input`, through its own strides, and `input` itself is returned.

`input` may be non-contiguous or empty. Infinities are ordinary values; NaN does not occur. The sign of a zero in the
result is free.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Exact, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("elementwise", "memory-bound", "in-place")
MAGNITUDES = (-104, 120)
MUTATES = ("input",)

CASES = [
    dict(shape=(37,), inplace=True),
    dict(shape=(1000,)),
    dict(shape=(4099,), inplace=True),
    dict(shape=(33, 65)),
    dict(shape=(7, 131), inplace=True),
    dict(shape=(1,)),
    dict(shape=(999,), special=True),
    dict(shape=(17, 45), strided=True),
    dict(shape=(5, 33), strided=True, inplace=True),
    dict(shape=(0, 7)),
    dict(shape=(2, 3, 65)),
    dict(shape=(5, 67), dtype=torch.float16),
]

SIZES = [dict(shape=(4096,)), dict(shape=(512, 1024)), dict(shape=(4096, 4096)), dict(shape=(134217728,))]

CONTRACT = Exact()


def relu(input: torch.Tensor, inplace: bool = False) -> torch.Tensor:
    return F.relu(input, inplace=inplace)


def inputs(make, shape, inplace=False, special=False, strided=False, dtype=None):
    """`special`: infinities, and the largest and smallest numbers."""
    x = make.floats(*shape, dtype=dtype)
    if special:
        x[:6] = torch.tensor([float("inf"), float("-inf"), 3e38, -3e38, 1.2e-38, -0.0])
    return call(make.strided(x) if strided else x, inplace=inplace)


def positive_select(input, inplace=False):
    result = torch.where(input > 0, input, torch.zeros_like(input))
    return input.copy_(result) if inplace else result


def negative_leaky(input, inplace=False):
    return F.leaky_relu(input, 0.01, inplace=inplace)


def negative_product(input, inplace=False):
    """x * (x > 0) is NaN for -inf."""
    result = input * (input > 0)
    return input.copy_(result) if inplace else result


def negative_always_inplace(input, inplace=False):
    return F.relu(input, inplace=True)


def negative_never_inplace(input, inplace=False):
    return F.relu(input)
