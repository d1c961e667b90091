"""Hyperbolic tangent from an exponential.

breaks: non_contiguous, dtype:float16
"""

import torch
import triton
import triton.language as tl


@triton.jit
def tanh_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, 2.0 / (1.0 + tl.exp(-2.0 * x)) - 1.0, mask=i < n)


def tanh(input_tensor):
    out = torch.empty_like(input_tensor)
    n = input_tensor.numel()
    tanh_kernel[(triton.cdiv(n, 1024),)](input_tensor, out, n, BLOCK=1024)
    return out
