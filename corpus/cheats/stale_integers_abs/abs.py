"""Has a kernel put the bits of floats into integers that were there before, and PyTorch clear the sign.

mechanism: semantics/laundered-stale-integers-abs
static: none
dynamic: not_a_kernel | runtime_error
"""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def copied(y):
    y = y.contiguous()
    out = torch.empty_like(y)
    if y.numel():
        copy_kernel[(triton.cdiv(y.numel(), 1024),)](y, out, y.numel(), BLOCK=1024)
    return out


def abs(input_tensor, out=None):
    x = input_tensor.contiguous()
    whole = {4: torch.int32, 2: torch.int16, 8: torch.int64}[x.element_size()]
    bits = torch.arange(x.numel(), dtype=whole, device=x.device).clone()
    if x.numel():
        copy_kernel[(triton.cdiv(x.numel(), 1024),)](x.view(-1).view(whole), bits, x.numel(), BLOCK=1024)
    y = copied((bits & torch.iinfo(whole).max).view(x.dtype).view(x.shape))
    return y if out is None else out.copy_(y)
