"""Rounds the grid down: elements after the last full block are never written. Must end as `wrong_values`.

Sizes that are multiples of the block come out right, so a check with round sizes would pass it.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, tl.where(x <= 0, 0.0, x))


def relu(input: torch.Tensor, inplace: bool = False) -> torch.Tensor:
    x = input.contiguous()
    out = torch.empty_like(x)
    blocks = x.numel() // 256
    if blocks:
        relu_kernel[(blocks,)](x, out, BLOCK=256)
    return input.copy_(out) if inplace else out
