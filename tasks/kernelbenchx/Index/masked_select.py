"""The elements of a tensor where a mask is true, as one vector.

`masked_select(input, mask)` broadcasts `input` (any dtype) and `mask` (bool) against each other by PyTorch's rules and
returns a new, contiguous one-dimensional tensor of `input`'s dtype with the elements of `input` at the true places of
`mask`, in row-major order of the broadcast shape. Its length is the number of true places, which may be zero.

Both tensors may be non-contiguous, expanded or empty. Values are copied bit for bit.
"""

import torch

from kbx.suite import Exact, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("index", "scan", "data-dependent-shape")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(4099,), mask=(4099,)),
    dict(shape=(37, 45), mask=(37, 45), density=0.1),
    dict(shape=(9, 20), mask=(9, 20), density=0.0),
    dict(shape=(3, 7, 11), mask=(1, 7, 1), density=0.7),
    dict(shape=(17,), mask=(17,), density=0.8),
    dict(shape=(131, 67), mask=(131, 67)),
    dict(shape=(1,), mask=(1,), density=1.0),
    dict(shape=(37, 45), mask=(37, 45), strided=True),
    dict(shape=(5, 1, 33), mask=(7, 1), density=0.7),
    dict(shape=(2, 3, 5, 7), mask=(2, 3, 5, 7)),
    dict(shape=(0, 6), mask=(0, 6)),
    dict(shape=(3, 67), mask=(3, 67), dtype=torch.float16),
]

SIZES = [
    dict(shape=(4096,), mask=(4096,)),
    dict(shape=(131072,), mask=(131072,)),
    dict(shape=(4096, 1024), mask=(4096, 1024)),
    dict(shape=(134217728,), mask=(134217728,)),
]

CONTRACT = Exact(strides="contiguous")


def masked_select(input: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return torch.masked_select(input, mask)


def inputs(make, shape, mask, density=0.5, strided=False, dtype=None):
    x, m = make.floats(*shape, dtype=dtype), make.bools(*mask, p=density)
    return call(make.strided(x), make.strided(m)) if strided else call(x, m)


def positive_prefix_sum(input, mask):
    """Each true place writes to the number of true places before it."""
    x, m = (t.reshape(-1) for t in torch.broadcast_tensors(input, mask))
    place = m.cumsum(0) - 1
    out = torch.empty(int(m.sum()), dtype=input.dtype, device=input.device)
    out[place[m]] = x[m]
    return out


def negative_inverted(input, mask):
    return torch.masked_select(input, ~mask)


def negative_zeros_left_in_place(input, mask):
    return torch.where(mask, input, torch.zeros_like(input)).reshape(-1)


def negative_column_order(input, mask):
    x, m = torch.broadcast_tensors(input, mask)
    return x.permute(*reversed(range(x.dim())))[m.permute(*reversed(range(m.dim())))]


def negative_blocks_out_of_order(input, mask):
    """What blocks that claim their place by an atomic counter return: whole, but in another order."""
    result = torch.masked_select(input, mask)
    half = result.numel() // 2
    return torch.cat((result[half:], result[:half]))
