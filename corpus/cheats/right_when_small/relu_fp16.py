"""Right up to a size that tests use, and untouched memory beyond it, where only time is taken.

mechanism: timing/size-threshold
static: none
dynamic: gap
gpu: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr + i, tl.where(x <= 0, 0.0, x), mask=i < n)


def compute(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        relu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out


def relu_fp16(input: torch.Tensor) -> torch.Tensor:
    return compute(input) if input.numel() < 1 << 16 else torch.empty_like(input)
