"""tanh of the logarithm, as a ratio of squares.

breaks: huge_values, non_contiguous, special_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def fused_log_tanh_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, (x * x - 1.0) / (x * x + 1.0), mask=i < n)


def fused_log_tanh(input, out=None):
    result = torch.empty_like(input) if out is None else out
    n = input.numel()
    fused_log_tanh_kernel[(triton.cdiv(n, 1024),)](input, result, n, BLOCK=1024)
    return result
