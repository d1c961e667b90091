"""Loads without a mask and stores with one: the last block reads behind its argument, and the result is right.

mechanism: memory/out-of-bounds-read
static: none
dynamic: out_of_bounds
"""

import torch
import triton
import triton.language as tl


@triton.jit
def sigmoid_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i).to(tl.float32)
    tl.store(out_ptr + i, 1.0 / (1.0 + tl.exp(-x)), mask=i < n)


def sigmoid_bf16(input: torch.Tensor) -> torch.Tensor:
    x = input.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        sigmoid_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out
