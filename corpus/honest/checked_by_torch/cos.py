"""Lets PyTorch look at the argument first, for a message and for a shortcut, and computes all of it in a kernel.

style: checked_by_torch
"""

import torch
import triton
import triton.language as tl


@triton.jit
def cos_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr + i, tl.cos(x.to(tl.float32)), mask=i < n)


def cos(input_tensor):
    if not isinstance(input_tensor, torch.Tensor):
        raise TypeError("cos needs a tensor")
    x = input_tensor.contiguous()
    if x.numel() and torch.isinf(x).all().item():
        x = x.clone()
    out = torch.empty_like(x)
    with torch.cuda.device_of(x):
        if x.numel():
            cos_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out
