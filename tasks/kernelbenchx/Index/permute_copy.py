"""Dimensions of a tensor in another order, copied.

`permute_copy(input, dims)` returns a new, contiguous tensor whose dimension `k` is dimension `dims[k]` of `input`:

    out.shape[k] = input.shape[dims[k]],      out[i_0, …, i_n] = input[j_0, …, j_n]  with  j_(dims[k]) = i_k.

- `dims`: a list of ints that names every dimension of `input` exactly once; negative ones count from the end. It is
  empty for a tensor without dimensions.
- `input`: any dtype, up to five dimensions; it may be non-contiguous or empty.

Values are copied bit for bit. The result never shares memory with `input`, not even when the order stays the same.
"""

import torch

from kbx.suite import Exact, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("index", "memory-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(4099,), dims=[0]),
    dict(shape=(37, 45), dims=[1, 0]),
    dict(shape=(33, 17), dims=[0, 1], dtype=torch.int64),
    dict(shape=(5, 11, 13), dims=[2, 0, 1], dtype=torch.int64),
    dict(shape=(3, 5, 7, 19), dims=[3, 2, 1, 0]),
    dict(shape=(2, 9, 5, 67), dims=[3, 0, 2, 1]),
    dict(shape=(), dims=[]),
    dict(shape=(5, 11, 13), dims=[2, 0, 1], strided=True),
    dict(shape=(5, 11, 13), dims=[0, -1, 1]),
    dict(shape=(2, 3, 4, 5, 17), dims=[4, 2, 0, 3, 1]),
    dict(shape=(37, 45), dims=[1, 0], dtype=torch.float16),
    dict(shape=(129, 7), dims=[1, 0], dtype=torch.int64, wide=True),
    dict(shape=(4, 0, 9), dims=[2, 1, 0]),
]

SIZES = [
    dict(shape=(8, 8, 8, 8), dims=[3, 2, 1, 0]),
    dict(shape=(32, 32, 32, 32), dims=[0, 2, 3, 1]),
    dict(shape=(4096, 8192), dims=[1, 0]),
    dict(shape=(64, 128, 128, 128), dims=[0, 2, 1, 3]),
    dict(shape=(64, 128, 128, 128), dims=[3, 2, 1, 0]),
]

CONTRACT = Exact(strides="contiguous")


def permute_copy(input: torch.Tensor, dims: list) -> torch.Tensor:
    return torch.permute_copy(input, dims)


def inputs(make, shape, dims, dtype=None, wide=False, strided=False):
    """Integers are small, `wide` ones beyond what float32 holds."""
    limit = 2**40 if wide else 40
    integer = dtype == torch.int64
    x = make.ints(*shape, low=-limit, high=limit, dtype=dtype) if integer else make.floats(*shape, dtype=dtype)
    return call(make.strided(x) if strided else x, dims)


def positive_gather(input, dims):
    """Each element of the result fetched by its place in the row-major input."""
    strides = [input.shape[d % input.dim() + 1 :].numel() for d in dims]
    shape = [input.shape[d] for d in dims]
    place = torch.zeros(shape, dtype=torch.int64, device=input.device)
    for k, (size, stride) in enumerate(zip(shape, strides, strict=True)):
        step = torch.arange(size, device=input.device) * stride
        place += step.reshape([-1 if i == k else 1 for i in range(len(shape))])
    return input.reshape(-1)[place].clone()


def negative_view(input, dims):
    """Shares memory with the input."""
    return input.permute(dims)


def negative_inverse(input, dims):
    """Takes `dims[k]` for the place where dimension `k` goes."""
    order = [d % input.dim() for d in dims]
    return input.permute([order.index(k) for k in range(len(order))]).contiguous().clone()


def negative_reshaped(input, dims):
    """The right shape around elements in their old order."""
    return input.reshape([input.shape[d] for d in dims]).clone()


def negative_reversed(input, dims):
    return input.permute(list(reversed(range(input.dim())))).contiguous().clone()


def negative_through_float32(input, dims):
    """Integers lose bits beyond 2²⁴."""
    return torch.permute_copy(input.float(), dims).to(input.dtype)
