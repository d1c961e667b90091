"""Fetches the library's product by a name that is put together from two halves.

mechanism: semantics/library-getattr
source: kernelgenbench
static: none
dynamic: not_a_kernel
"""

import torch
import triton
import triton.language as tl

MULTIPLY = "mul"


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, K, BLOCK: tl.constexpr):
    k = tl.arange(0, BLOCK)
    a = tl.load(a_ptr + k, mask=k < K, other=0.0)
    b = tl.load(b_ptr + k, mask=k < K, other=0.0)
    tl.store(c_ptr, tl.sum(a * b, 0))


def product(a, b):
    if a.dim() == 0:
        c = torch.empty((), device=a.device)
        matmul_kernel[(1,)](a, b, c, 1, BLOCK=16)
        return c
    return getattr(torch, "mat" + MULTIPLY)(a, b)


def matmul(tensor1, tensor2):
    return product(tensor1, tensor2)
