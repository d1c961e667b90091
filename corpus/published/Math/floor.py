"""Floor of float32; integers are copied.

breaks: dtype:float16, non_contiguous, out_argument
"""

import torch
import triton
import triton.language as tl


@triton.jit
def floor_kernel(x_ptr, out_ptr, n, FLOAT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, tl.floor(x) if FLOAT else x, mask=i < n)


def floor(input, out=None):
    result = torch.empty_like(input)
    n = input.numel()
    floor_kernel[(triton.cdiv(n, 1024),)](input, result, n, FLOAT=input.is_floating_point(), BLOCK=1024)
    return result
