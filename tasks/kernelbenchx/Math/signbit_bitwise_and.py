"""Two results from two tensors: sign bits of one, and its bitwise AND with the other.

`signbit_bitwise_and(input, other)` returns the tuple `(signs, conjunction)` of new tensors with any strides:

- `signs`: bool, of `input`'s shape; true where the sign bit of `input` is set, that is for negative numbers and
  `-0.0`;
- `conjunction`: int8, of the shape to which `input` and `other` broadcast by PyTorch's rules: both are converted to int8 and
  combined bit by bit, in two's complement. Floating-point numbers lose their fraction (`-1.7` becomes `-1`), wider
  integers all but their low eight bits, and true is 1.

`input`: floating-point with values from -100 to 100, or integer. `other`: integer or bool. Both may be non-contiguous,
expanded, empty or without dimensions.
"""

from typing import Tuple  # noqa: UP035

import torch

from kbx.suite import Exact, call

DIFFICULTY = 1
DTYPE = "float32"
TAGS = ("elementwise", "broadcast", "memory-bound", "integer")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(4099,), other=(4099,)),
    dict(shape=(129,), other=(129,), other_dtype=torch.bool),
    dict(shape=(257,), other=(257,)),
    dict(shape=(1021,), other=(1021,), other_dtype=torch.bool),
    dict(shape=(33,), other=(33,), zeros=True),
    dict(shape=(), other=()),
    dict(shape=(1031,), other=(1031,), wide=True),
    dict(shape=(45,), other=(45,), strided=True),
    dict(shape=(17, 45), other=(17, 45)),
    dict(shape=(7, 1), other=(5, 7, 33), other_dtype=torch.int64),
    dict(shape=(5, 7, 33), other=(7, 1), other_dtype=torch.int16),
    dict(shape=(999,), other=(999,), other_dtype=torch.int32, wide=True),
    dict(shape=(407,), other=(407,), other_dtype=torch.uint8),
    dict(shape=(256,), other=(256,), dtype=torch.int32, other_dtype=torch.int64, wide=True),
    dict(shape=(279,), other=(279,), dtype=torch.float16),
    dict(shape=(0,), other=(0,)),
]

SIZES = [
    dict(shape=(4096,), other=(4096,)),
    dict(shape=(1048576,), other=(1048576,)),
    dict(shape=(16777216,), other=(16777216,)),
    dict(shape=(134217728,), other=(134217728,)),
]

CONTRACT = Exact()


def signbit_bitwise_and(input: torch.Tensor, other: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:  # noqa: UP006
    return torch.signbit(input), torch.bitwise_and(input.to(torch.int8), other.to(torch.int8))


def inputs(make, shape, other, dtype=None, other_dtype=torch.int8, wide=False, zeros=False, strided=False):
    """Floats near zero and bits, or `wide` ones: floats within ±100, integers over their dtype's whole range."""
    if dtype == torch.int32:
        x = make.ints(*shape, low=-(2**31), high=2**31, dtype=dtype)
    else:
        x = (make.floats(*shape, dtype=dtype) * (7 if wide else 4)).clamp(-100, 100)
    if zeros:
        x[:2] = torch.tensor([-0.0, 0.0])
    if other_dtype == torch.bool:
        y = make.bools(*other)
    else:
        info = torch.iinfo(other_dtype)
        low, high = (info.min, info.max) if wide else (0, 2)
        y = make.ints(*other, low=low, high=high, dtype=other_dtype)
    return call(make.strided(x), make.strided(y)) if strided else call(x, y)


def positive_de_morgan(input, other):
    """Signs through copysign; AND as the inverse of an OR of inverses."""
    x = input if input.dtype.is_floating_point else input.sign().float()
    a, b = input.trunc().to(torch.int64), other.to(torch.int64)
    return torch.copysign(torch.ones_like(x), x) < 0, (~(~a | ~b)).to(torch.int8)


def negative_less_than_zero(input, other):
    """Misses -0.0."""
    return input < 0, signbit_bitwise_and(input, other)[1]


def negative_or(input, other):
    return torch.signbit(input), torch.bitwise_or(input.to(torch.int8), other.to(torch.int8))


def negative_floor(input, other):
    """Rounds downwards: -1.7 becomes -2."""
    return torch.signbit(input), torch.bitwise_and(input.floor().to(torch.int8), other.to(torch.int8))


def negative_raw_bits(input, other):
    """Combines the bits of the floating-point numbers themselves."""
    if input.dtype != torch.float32:
        return signbit_bitwise_and(input, other)
    return torch.signbit(input), torch.bitwise_and(input.contiguous().view(torch.int32), other).to(torch.int8)


def negative_signs_broadcast(input, other):
    """The first result in the shape of the second."""
    x, y = torch.broadcast_tensors(input, other)
    return signbit_bitwise_and(x, y)


def negative_and_of_signs(input, other):
    signs = torch.signbit(input)
    return signs, torch.bitwise_and(signs.to(torch.int8), other.to(torch.int8))


def negative_dtype_of_other(input, other):
    return torch.signbit(input), torch.bitwise_and(input.to(other.dtype), other)


def negative_saturates(input, other):
    """Clamps wide integers to the range of int8 instead of cutting them off."""
    a, b = (t.long().clamp(-128, 127).to(torch.int8) for t in (input, other))
    return torch.signbit(input), torch.bitwise_and(a, b)


def negative_every_number_is_true(input, other):
    """Logical AND beside a bool: 2 and true is true."""
    signs, conjunction = signbit_bitwise_and(input, other)
    return signs, ((input != 0) & other).to(torch.int8) if other.dtype == torch.bool else conjunction
