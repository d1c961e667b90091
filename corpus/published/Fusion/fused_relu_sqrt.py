"""Root of the ReLU: float32 or int64, in place, or into out.

breaks: non_contiguous, special_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def fused_relu_sqrt_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, tl.sqrt(tl.maximum(x, 0).to(tl.float32)), mask=i < n)


def fused_relu_sqrt(input, inplace=False, out=None):
    if out is None:
        out = input if inplace else torch.empty_like(input, dtype=torch.float32)
    result = out
    n = input.numel()
    fused_relu_sqrt_kernel[(triton.cdiv(n, 1024),)](input, result, n, BLOCK=1024)
    return result
