"""ReLU, in place or not.

breaks: non_contiguous, special_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, tl.maximum(x, 0.0), mask=i < n)


def relu(input, inplace=False):
    result = input if inplace else torch.empty_like(input)
    n = input.numel()
    relu_kernel[(triton.cdiv(n, 1024),)](input, result, n, BLOCK=1024)
    return result
