"""Undoes the centring of zero frequency: rolls dimensions back by half.

`ifftshift(input, dim=None)` returns a new tensor of `input`'s shape and dtype. Along each chosen dimension, of length
`N`,

    out[i] = input[(i + N // 2) mod N],

so that the element in the middle, at `N // 2`, comes first. It is the inverse of `fftshift`; for odd `N` the two
differ.

- `dim`: an int or a tuple of ints without repetition, negative ones count from the end; None means all dimensions.

`input` has at least one dimension and any dtype: floats, integers, booleans or complex numbers are moved bit by bit. It
may be non-contiguous or empty. The result never shares memory with `input`; its strides are free.
"""

import torch

from kbx.suite import Exact, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("index", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(4099,)),
    dict(shape=(64,), dim=0),
    dict(shape=(9, 14, 5), dim=(0, 2)),
    dict(shape=(37, 10), dim=(0, 1)),
    dict(shape=(13, 9), dim=0, dtype=torch.int64, limit=15),
    dict(shape=(1,)),
    dict(shape=(17, 45), strided=True),
    dict(shape=(6, 7, 11), dim=-2),
    dict(shape=(4, 5, 3, 7), dim=(2, 1)),
    dict(shape=(13, 10), dim=(0, 1), dtype=torch.complex64),
    dict(shape=(5, 33), dtype=torch.int64),
    dict(shape=(3, 0, 7)),
]

SIZES = [
    dict(shape=(4096,)),
    dict(shape=(1024, 1024)),
    dict(shape=(4096, 4097), dim=0),
    dict(shape=(255, 512, 1024), dim=(0, 2)),
    dict(shape=(134217728,)),
]

CONTRACT = Exact()


def ifftshift(input, dim=None):
    return torch.fft.ifftshift(input, dim=dim)


def inputs(make, shape, dim=None, dtype=torch.float32, limit=2**62, strided=False):
    x = make.ints(*shape, low=-limit, high=limit) if dtype == torch.int64 else make.floats(*shape, dtype=dtype)
    return call(make.strided(x) if strided else x, dim)


def _dims(input, dim):
    return range(input.dim()) if dim is None else [dim] if isinstance(dim, int) else dim


def positive_indexed(input, dim=None):
    result = input.clone()
    for d in _dims(input, dim):
        n = input.shape[d]
        order = (torch.arange(n, device=input.device) + n // 2) % max(n, 1)
        result = result.index_select(d, order)
    return result


def positive_two_parts(input, dim=None):
    result = input.clone()
    for d in _dims(input, dim):
        middle = input.shape[d] // 2
        result = torch.cat([result.narrow(d, middle, input.shape[d] - middle), result.narrow(d, 0, middle)], d)
    return result


def negative_fftshift(input, dim=None):
    """The inverse, which is the same for even lengths only."""
    return torch.fft.fftshift(input, dim=dim)


def negative_all_dimensions(input, dim=None):
    return torch.fft.ifftshift(input)


def negative_first_dimension_only(input, dim=None):
    return torch.fft.ifftshift(input, dim=_dims(input, dim)[0])


def negative_flattened(input, dim=None):
    """Rolls the memory as if it were one dimension."""
    return input.reshape(-1).roll(-(input.numel() // 2)).reshape(input.shape)


def negative_through_float32(input, dim=None):
    """Loses the digits of integers and the imaginary parts."""
    shifted = torch.fft.ifftshift(input, dim=dim)
    return (shifted.real if shifted.is_complex() else shifted).float().to(input.dtype)
