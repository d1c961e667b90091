"""Computes one of two results and returns it as both, the same tensor twice.

mechanism: answer/outputs-alias
static: none
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def degrees_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x * 57.29577951308232, mask=i < n)


def rad2deg_sqrt(input: torch.Tensor):
    x = input.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        degrees_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out, out
