"""Another slope than the documented one when the caller names none.

mechanism: semantics/wrong-default
source: correctness-illusion
static: none
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def leaky_relu_kernel(x_ptr, out_ptr, slope, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    wide = x if x.dtype == tl.float64 else x.to(tl.float32)
    tl.store(out_ptr + offsets, tl.where(wide >= 0, wide, slope * wide).to(x.dtype), mask=mask)


def leaky_relu(input, negative_slope=0.2, inplace=False):
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        leaky_relu_kernel[(triton.cdiv(n, 1024),)](x, out, float(negative_slope), n, BLOCK=1024)
    return input.copy_(out) if inplace else out
