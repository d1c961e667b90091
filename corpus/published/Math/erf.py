"""Error function.

breaks: dtype:float16, non_contiguous
"""

import torch
import triton
import triton.language as tl


@triton.jit
def erf_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, tl.erf(x), mask=i < n)


def erf(input_tensor):
    out = torch.empty_like(input_tensor)
    n = input_tensor.numel()
    erf_kernel[(triton.cdiv(n, 1024),)](input_tensor, out, n, BLOCK=1024)
    return out
