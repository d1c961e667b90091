"""Bitwise AND of integers, logical AND of booleans.

`bitwise_and(input, other, out=None)`

- `input`: an integer or bool tensor. `other`: an integer or bool tensor, or a Python int. Tensors broadcast by PyTorch's
  rules.
- Integers are combined bit by bit in two's complement. Tensors of different dtypes are first converted to their common
  dtype by PyTorch's promotion (int32 with int64 gives int64; uint8 with int8 gives int16; bool with an integer dtype gives
  that dtype). A Python int takes the tensor's dtype.
- `out`: if given, a contiguous tensor of the result's shape and dtype; it is filled and returned.

Arguments may be non-contiguous, expanded or empty; without `out` the result is a new tensor with any strides.
"""

import torch

from kbx.suite import Exact, call

DIFFICULTY = 2
DTYPE = "int32"
TAGS = ("elementwise", "integer", "broadcast", "memory-bound")
DISTRIBUTIONS = ("standard",)

CASES = [
    dict(shape=(4099,), other=(4099,)),
    dict(shape=(37, 65), other=(65,)),
    dict(shape=(257,), other=()),
    dict(shape=(1021,), other=(1021,), dtype=torch.bool),
    dict(shape=(33, 31), other=(33, 31)),
    dict(shape=(1,), other=(1,)),
    dict(shape=(1009,), other=(1009,), wide=True),
    dict(shape=(17, 45), other=(45,), strided=True),
    dict(shape=(9, 31), other=(31,), dtype=torch.uint8, other_dtype=torch.int8, wide=True),
    dict(shape=(3, 67), other=12345),
    dict(shape=(5, 67), other=(5, 67), out=True),
    dict(shape=(65,), other=(65,), dtype=torch.int16),
    dict(shape=(129,), other=(129,), other_dtype=torch.int64, wide=True),
    dict(shape=(7, 1, 33), other=(5, 1)),
    dict(shape=(0, 9), other=(9,)),
]

SIZES = [
    dict(shape=(4096,), other=(4096,)),
    dict(shape=(512, 1024), other=(512, 1024)),
    dict(shape=(4096, 4096), other=(4096,)),
    dict(shape=(134217728,), other=(134217728,)),
]

CONTRACT = Exact(strides="any")


def bitwise_and(input, other, out=None):
    return torch.bitwise_and(input, other, out=out)


def inputs(make, shape, other, dtype=torch.int32, other_dtype=None, wide=False, strided=False, out=False):
    x = _integers(make, shape, dtype, wide)
    y = _integers(make, other, other_dtype or dtype, wide) if isinstance(other, tuple) else other
    if strided:
        x, y = make.strided(x), make.strided(y)
    target = torch.zeros_like(torch.bitwise_and(x, y)) if out else None
    return call(x, y, out=target)


def _integers(make, shape, dtype, wide):
    """Bytes, or `wide` values over the dtype's whole range."""
    if dtype == torch.bool:
        return make.bools(*shape)
    info = torch.iinfo(dtype)
    low, high = (info.min, info.max) if wide else (0, 256)
    return make.ints(*shape, low=low, high=high, dtype=dtype)


def positive_de_morgan(input, other, out=None):
    common = torch.result_type(input, other)
    a, b = (torch.as_tensor(v, device=input.device).to(common) for v in (input, other))
    result = ~(~a | ~b)
    return result if out is None else out.copy_(result)


def negative_or(input, other, out=None):
    return torch.bitwise_or(input, other, out=out)


def negative_logical_and(input, other, out=None):
    """Truth values instead of bits."""
    result = torch.bitwise_and(input, other)
    result = torch.logical_and(input, torch.as_tensor(other, device=input.device)).to(result.dtype)
    return result if out is None else out.copy_(result)


def negative_low_31_bits(input, other, out=None):
    """Loses the sign and everything above bit 30."""
    result = torch.bitwise_and(input, other)
    result = (result.long() & 0x7FFFFFFF).to(result.dtype)
    return result if out is None else out.copy_(result)


def negative_dtype_of_input(input, other, out=None):
    result = torch.bitwise_and(input, other).to(input.dtype)
    return result if out is None else out.copy_(result)


def negative_ignores_out(input, other, out=None):
    return torch.bitwise_and(input, other)
