"""Matrix product of two tensors of any rank from one up.

`matmul(tensor1, tensor2)` for float32 tensors; which product it is depends on the ranks:

- both one-dimensional, `(K)` and `(K)`: the dot product, a tensor without dimensions;
- both two-dimensional, `(M, K)` and `(K, N)`: the matrix product `(M, N)`;
- one of them one-dimensional: a vector on the left counts as `(1, K)`, one on the right as `(K, 1)`; the dimension
  added is removed from the result: `(M, K)` and `(K)` give `(M)`, `(K)` and `(B, K, N)` give `(B, N)`;
- otherwise a batch of matrix products, `(…, M, K)` and `(…, K, N)` to `(…, M, N)`: dimensions before the last two
  broadcast by PyTorch's rules, and a two-dimensional tensor has none.

Arguments may be non-contiguous or expanded, and every size may be 0 (with `K = 0` the product is zero). The result is a
new float32 tensor with any strides. Products and sums are float32: TF32 and half precision are not allowed.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("matmul", "broadcast")
MAGNITUDES = (-52, 56)

CASES = [
    dict(left=(37, 45), right=(45, 53)),
    dict(left=(33, 70), right=(70,)),
    dict(left=(35,), right=(35, 19)),
    dict(left=(3, 17, 20), right=(3, 20, 9)),
    dict(left=(140, 33), right=(33, 150)),
    dict(left=(1, 1), right=(1, 1)),
    dict(left=(29, 45), right=(45, 31), strided=True),
    dict(left=(301,), right=(301,)),
    dict(left=(5, 13, 31), right=(31,)),
    dict(left=(21,), right=(4, 21, 11)),
    dict(left=(2, 1, 10, 33), right=(3, 33, 18)),
    dict(left=(12, 26), right=(2, 2, 26, 7)),
    dict(left=(5, 0), right=(0, 4)),
    dict(left=(0, 16), right=(16, 8)),
]

SIZES = [
    dict(left=(256, 256), right=(256, 256)),
    dict(left=(2176, 2176), right=(2176, 2176)),
    dict(left=(64, 1024, 512), right=(64, 512, 256)),
    dict(left=(16384, 8192), right=(8192,)),
    dict(left=(4096, 4096), right=(4096, 4096)),
]


def magnitude(tensor1, tensor2):
    """Rounding errors grow with the terms of a sum, not with what is left of it after cancellation."""
    return torch.matmul(tensor1.square(), tensor2.square()).sqrt()


# A sum of thousands of products in order errs more than PyTorch's, which may add up a tree: four times the usual room.
CONTRACT = Close(scale=magnitude, growth=4)


def matmul(tensor1, tensor2):
    return torch.matmul(tensor1, tensor2)


def inputs(make, left, right, strided=False):
    a, b = make.floats(*left), make.floats(*right)
    return call(make.strided(a), make.strided(b)) if strided else call(a, b)


def _matrices(tensor1, tensor2):
    """Vectors as matrices, and the dimensions of the result that this added."""
    added = [d for d, t in ((-2, tensor1), (-1, tensor2)) if t.dim() == 1]
    return tensor1[None] if -2 in added else tensor1, tensor2[:, None] if -1 in added else tensor2, tuple(added)


def positive_split_k(tensor1, tensor2):
    """Four partial products."""
    a, b, added = _matrices(tensor1, tensor2)
    parts = zip(a.tensor_split(4, -1), b.tensor_split(4, -2), strict=True)
    return sum(x @ y for x, y in parts).squeeze(added)


def positive_outer_products(tensor1, tensor2):
    """One product after the other, as the loop over K of a simple kernel does."""
    a, b, added = _matrices(tensor1, tensor2)
    acc = torch.zeros_like(a @ b)
    for k in range(a.shape[-1]):
        acc += a[..., :, k : k + 1] * b[..., k : k + 1, :]
    return acc.squeeze(added)


def negative_tf32(tensor1, tensor2):
    """Drops the 13 low bits of the mantissa, as a TF32 tensor core reads its operands."""
    a, b = ((t.contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32) for t in (tensor1, tensor2))
    return torch.matmul(a, b)


def negative_missing_k_tail(tensor1, tensor2):
    """Leaves out the last columns when K is no multiple of 16."""
    a, b, added = _matrices(tensor1, tensor2)
    whole = a.shape[-1] // 16 * 16
    return (a[..., :whole] @ b[..., :whole, :]).squeeze(added)


def negative_first_batch_only(tensor1, tensor2):
    """Reads the right operand's first matrix for the whole batch."""
    _, b, added = _matrices(tensor1, tensor2)
    b = b[(slice(0, 1),) * (b.dim() - 2)].expand_as(b)
    return torch.matmul(tensor1, b.squeeze(-1) if -1 in added else b)


def negative_transposed_right(tensor1, tensor2):
    if tensor2.dim() == 1:
        return torch.matmul(tensor1, tensor2)
    return torch.matmul(tensor1, tensor2.mT.reshape(tensor2.shape))


def negative_keeps_added_dimension(tensor1, tensor2):
    a, b, _ = _matrices(tensor1, tensor2)
    return a @ b
