"""Matrix product in bfloat16.

`matmul_bf16(input, other)` is `input @ other` for bfloat16 tensors, with a bfloat16 result.

- `input`: `(…, M, K)`, `other`: `(…, K, N)`; batch dimensions broadcast by PyTorch's rules, and either argument may have
  none. The result is `(…, M, N)`. A one-dimensional `input`, `(K)`, counts as one row, and the result lacks that
  dimension.
- Products are exact in float32 and summed in float32; the sum is rounded to bfloat16 once, at the end. Adding up in bfloat16 is
  too inaccurate: `K` exceeds a thousand.

Arguments may be non-contiguous (a transposed view, for example). `M`, `N` or the batch may be 0. The result is a new,
contiguous tensor.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "bfloat16"
TAGS = ("matmul", "tensor-core", "bf16")
MAGNITUDES = (-104, 120)

CASES = [
    dict(left=(37, 45), right=(45, 53)),
    dict(left=(7, 1031), right=(1031, 5)),
    dict(left=(3, 17, 20), right=(3, 20, 9)),
    dict(left=(45,), right=(45, 53)),
    dict(left=(140, 33), right=(33, 150)),
    dict(left=(1, 1), right=(1, 1)),
    dict(left=(64, 32), right=(32, 16), strided=True),
    dict(left=(5, 13, 31), right=(31, 9)),
    dict(left=(2, 1, 17, 20), right=(3, 20, 9)),
    dict(left=(0, 16), right=(16, 8)),
]

SIZES = [
    dict(left=(256, 256), right=(256, 256)),
    dict(left=(1024, 1024), right=(1024, 1024)),
    dict(left=(4096, 4096), right=(4096, 4096)),
    dict(left=(8192, 8192), right=(8192, 8192)),
]

CONTRACT = Close(strides="contiguous")


def matmul_bf16(input: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    return torch.matmul(input, other)


def inputs(make, left, right, strided=False):
    a, b = make.floats(*left), make.plain(*right)
    return call(make.strided(a), make.strided(b)) if strided else call(a, b)


def positive_split_k(input, other):
    """Four partial sums in float32, rounded once."""
    parts = zip(input.float().tensor_split(4, -1), other.float().tensor_split(4, -2), strict=True)
    return sum(a @ b for a, b in parts).to(input.dtype)


def negative_bf16_accumulation(input, other):
    """Rounds the running sum after every product."""
    expected = torch.matmul(input, other)
    rows, acc = torch.atleast_2d(input), torch.zeros_like(torch.atleast_2d(expected))
    for k in range(input.shape[-1]):
        acc = acc + rows[..., :, k : k + 1] * other[..., k : k + 1, :]
    return acc.reshape(expected.shape)


def negative_rounded_blocks(input, other):
    """Rounds the running sum after every 16 products, as a kernel with an accumulator of the result's dtype does."""
    acc = 0
    for a, b in zip(torch.atleast_2d(input).split(16, -1), other.split(16, -2), strict=True):
        acc = (acc + a.float() @ b.float()).to(input.dtype).float()
    return acc.to(input.dtype).reshape(torch.matmul(input, other).shape)


def negative_transposed_other(input, other):
    return torch.matmul(input, other.mT.reshape(other.shape))


def negative_missing_k_tail(input, other):
    """Leaves out the last columns when K is no multiple of 16."""
    whole = max(1, input.shape[-1] // 16 * 16)
    return torch.matmul(input[..., :whole], other[..., :whole, :])


def negative_float32_result(input, other):
    return input.float() @ other.float()
