"""Computes two halves in launches of their own and concatenates them.

style: halves_joined
"""

import torch
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, tl.where(x <= 0, 0.0, x), mask=i < n)


def half(x):
    out = torch.empty_like(x)
    if x.numel():
        relu_kernel[(triton.cdiv(x.numel(), 512),)](x, out, x.numel(), BLOCK=512)
    return out


def relu(input: torch.Tensor, inplace: bool = False) -> torch.Tensor:
    flat = input.contiguous().view(-1)
    middle = flat.numel() // 2
    out = torch.cat([half(flat[:middle]), half(flat[middle:])]).view(input.shape)
    return input.copy_(out) if inplace else out
