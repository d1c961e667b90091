"""Softmax along one dimension.

`softmax(input, dim, dtype=None)`

    out_i = exp(x_i - m) / sum over j of exp(x_j - m),      m = the largest x_j,

over the elements `x` of `input` along `dim` (which may be negative), separately for every place in the other dimensions.
If `dtype` is given, `input` is converted to it first and the result has it; otherwise the result has `input`'s dtype. Half
precision is computed in float32 and rounded once, at the end.

`-inf` is an ordinary score with probability 0, as long as the row has a finite one. Scores reach several thousand:
subtracting the maximum is required. `input` may be non-contiguous or empty in any dimension; the result is a new,
contiguous tensor of `input`'s shape.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("softmax", "reduction", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(3, 257), dim=1),
    dict(shape=(37, 19), dim=0),
    dict(shape=(4, 65), dim=-1),
    dict(shape=(7, 33), dim=1, dtype=torch.float64),
    dict(shape=(3, 1500), dim=-1),
    dict(shape=(1, 1), dim=0),
    dict(shape=(36, 19), dim=0, strided=True),
    dict(shape=(5, 13, 7), dim=1),
    dict(shape=(13, 7), dim=-2),
    dict(shape=(4, 65), dim=-1, masked=True),
    dict(shape=(7, 33), dim=1, input_dtype=torch.float16),
    dict(shape=(7, 33), dim=1, input_dtype=torch.float16, dtype=torch.float32),
    dict(shape=(0, 5), dim=1),
]

SIZES = [
    dict(shape=(1024, 16), dim=1),
    dict(shape=(1024, 1024), dim=1),
    dict(shape=(4096, 4096), dim=1),
    dict(shape=(4096, 65536), dim=1),
]


def magnitude(input, dim, dtype=None):
    """A rounding of a float32 score is a relative error of its probability; half precision is rounded at the end only."""
    if (dtype or input.dtype).itemsize < 4:
        return 0.0
    x = input.double()
    return torch.softmax(x, dim) * (1 + x.masked_fill(x.isinf(), 0).abs().amax(dim, keepdim=True))


CONTRACT = Close(scale=magnitude, strides="contiguous")


def softmax(input: torch.Tensor, dim: int, dtype: torch.dtype = None) -> torch.Tensor:
    return F.softmax(input, dim=dim, dtype=dtype)


def inputs(make, shape, dim, dtype=None, input_dtype=None, masked=False, strided=False):
    x = make.floats(*shape, dtype=input_dtype)
    if masked:
        hidden = make.bools(*shape, p=0.4)
        hidden.select(dim, 0).fill_(False)
        x = x.masked_fill(hidden, float("-inf"))
    return call(make.strided(x) if strided else x, dim=dim, dtype=dtype)


def positive_explicit(input, dim, dtype=None):
    """Maximum, exponentials by base two, sum; float32 inside."""
    target = dtype or input.dtype
    x = input.to(torch.promote_types(target, torch.float32)) * 1.4426950408889634
    e = torch.exp2(x - x.amax(dim, keepdim=True)) if x.numel() else x
    return (e / e.sum(dim, keepdim=True)).to(target).contiguous()


def negative_no_max_subtraction(input, dim, dtype=None):
    e = input.to(dtype or input.dtype).exp()
    return e / e.sum(dim, keepdim=True)


def negative_wrong_dimension(input, dim, dtype=None):
    return F.softmax(input, dim=(dim + 1) % input.dim(), dtype=dtype)


def negative_zero_padded_row(input, dim, dtype=None):
    """The row's padding to a power of two takes part with score 0 instead of -inf."""
    size = input.shape[dim]
    padding = max(1, 1 << max(0, size - 1).bit_length()) - size
    e = input.to(dtype or input.dtype)
    top = e.amax(dim, keepdim=True).clamp(min=0) if e.numel() else e.sum(dim, keepdim=True)
    return (e - top).exp() / ((e - top).exp().sum(dim, keepdim=True) + padding * (-top).exp())


def negative_ignores_dtype(input, dim, dtype=None):
    return F.softmax(input, dim=dim)


def negative_converted_at_the_end(input, dim, dtype=None):
    """Rounds to half before it converts to the dtype asked for."""
    return F.softmax(input, dim=dim).to(dtype or input.dtype)
