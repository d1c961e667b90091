"""Product of bfloat16 tensors, element by element.

`mul_bf16(input, other)` is `input * other` for two bfloat16 tensors, which broadcast by PyTorch's rules: a new
bfloat16 tensor of the broadcast shape with any strides. A product is rounded to bfloat16 once; beyond the dtype's
range it is infinite.

NaN, infinities and zeros follow IEEE 754: `inf * 0` is NaN. Arguments may be non-contiguous, expanded or empty.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 3
EXTRA = True
DTYPE = "bfloat16"
TAGS = ("elementwise", "broadcast", "memory-bound", "bf16")
MAGNITUDES = (-52, 56)

CASES = [
    dict(shape=(33, 65), other=(33, 65)),
    dict(shape=(17, 45), other=(45,)),
    dict(shape=(1, 4099), other=(4099,)),
    dict(shape=(7, 1021), other=(7, 1021)),
    dict(shape=(127, 3), other=(127, 3)),
    dict(shape=(1, 1), other=(1, 1)),
    dict(shape=(9, 77), other=(9, 77), special=True),
    dict(shape=(17, 43), other=(43,), strided=True),
    dict(shape=(257,), other=(257,)),
    dict(shape=(7, 1, 33), other=(5, 1)),
    dict(shape=(3, 67), other=()),
    dict(shape=(4, 31), other=(4, 31), expanded=True),
    dict(shape=(0, 9), other=(9,)),
]

SIZES = [
    dict(shape=(256, 256), other=(256, 256)),
    dict(shape=(2048, 2048), other=(2048, 2048)),
    dict(shape=(8192, 8192), other=(8192, 8192)),
    dict(shape=(16384, 12288), other=(16384, 12288)),
]

CONTRACT = Close()


def mul_bf16(input: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    return torch.mul(input, other)


def inputs(make, shape, other, special=False, strided=False, expanded=False):
    """`special`: NaN, infinities, and numbers whose product overflows."""
    x, y = make.floats(*shape), make.floats(*other)
    if special:
        big = torch.finfo(x.dtype).max / 2
        x.view(-1)[:5] = torch.tensor([float("nan"), float("inf"), float("-inf"), big, -big])
        y.view(-1)[:5] = torch.tensor([1.0, 0.0, 2.0, 4.0, 4.0])
    if strided:
        x, y = make.strided(x), make.strided(y)
    if expanded:
        y = make.expanded(make.floats(shape[0], 1), *shape)
    return call(x, y)


def positive_double(input, other):
    """The product is exact in double precision and rounded once."""
    return (other.double() * input.double()).to(input.dtype)


def negative_sum(input, other):
    return torch.add(input, other)


def negative_saturates(input, other):
    """The largest number instead of infinity."""
    limit = torch.finfo(input.dtype).max
    return torch.mul(input, other).clamp(-limit, limit)


def negative_no_broadcast(input, other):
    """Reads `other` as a flat run of numbers, again from its start where it ends."""
    result = torch.mul(input, other)
    if not result.numel():
        return result
    flat = (t.reshape(-1).repeat(-(-result.numel() // t.numel()))[: result.numel()] for t in (input, other))
    return torch.mul(*flat).reshape(result.shape)


def negative_float32_result(input, other):
    return input.float() * other.float()
