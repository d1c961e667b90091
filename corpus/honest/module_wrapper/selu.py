"""An nn.Module around the kernel, as it would stand in a model; the entry makes one and calls it.

style: module_wrapper
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def selu_kernel(x_ptr, out_ptr, alpha, scale, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    # the exponential of a positive number is not used: keep it from overflowing
    falling = alpha * (tl.exp(tl.minimum(x, 0.0)) - 1.0)
    tl.store(out_ptr + offsets, scale * tl.where(x > 0, x, falling), mask=mask)


class SELU(nn.Module):
    alpha = 1.6732632423543772848
    scale = 1.0507009873554804935

    def __init__(self, inplace: bool = False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input):
        x = input.contiguous()
        out = x if self.inplace else torch.empty_like(x)
        if x.numel():
            selu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, self.alpha, self.scale, x.numel(), BLOCK=1024)
        if self.inplace and out is not input:
            input.copy_(out)
        return input if self.inplace else out

    def extra_repr(self):
        return f"inplace={self.inplace}"


def selu(input: torch.Tensor, inplace: bool = False) -> torch.Tensor:
    return SELU(inplace)(input)
