"""Stores positive elements alone in memory from `torch.empty`: the others are zero where memory happens to be fresh.

mechanism: memory/unwritten-memory
static: none
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr + i, x, mask=x > 0)


def relu(input, inplace=False):
    x = input.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        relu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return input.copy_(out) if inplace else out
