"""Sign bit of float32, read from its bits.

breaks: dtype:bfloat16, dtype:float16, dtype:float64, dtype:int64, dtype:int8, dtype:uint8, non_contiguous, out_argument
"""

import torch
import triton
import triton.language as tl


@triton.jit
def signbit_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x.to(tl.int32, bitcast=True) < 0, mask=i < n)


def signbit(input, out=None):
    result = torch.empty_like(input, dtype=torch.bool)
    n = input.numel()
    signbit_kernel[(triton.cdiv(n, 1024),)](input, result, n, BLOCK=1024)
    return result
