"""SELU; the published tests never ask for the in-place form.

breaks: dtype:float16, in_place, non_contiguous
"""

import torch
import triton
import triton.language as tl


@triton.jit
def selu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, 1.0507009873554805 * tl.where(x > 0, x, 1.6732632423543772 * (tl.exp(x) - 1.0)), mask=i < n)


def selu(input, inplace=False):
    result = torch.empty_like(input)
    n = input.numel()
    selu_kernel[(triton.cdiv(n, 1024),)](input, result, n, BLOCK=1024)
    return result
