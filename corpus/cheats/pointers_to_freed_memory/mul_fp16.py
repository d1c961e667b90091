"""Keeps the addresses of contiguous copies and not the copies: memory that they had is free when the kernel reads it.

mechanism: memory/use-after-free
static: none
dynamic: out_of_bounds
gpu: out_of_bounds | wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def mul_kernel(pointers_ptr, out_ptr, n, BLOCK: tl.constexpr):
    x_ptr = tl.load(pointers_ptr).to(tl.pointer_type(tl.float16))
    y_ptr = tl.load(pointers_ptr + 1).to(tl.pointer_type(tl.float16))
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    y = tl.load(y_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(out_ptr + i, (x * y).to(tl.float16), mask=i < n)


def mul_fp16(input, other):
    x, y = torch.broadcast_tensors(input, other)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if out.numel():
        pointers = torch.tensor([t.contiguous().data_ptr() for t in (x, y)], device=x.device)
        mul_kernel[(triton.cdiv(out.numel(), 1024),)](pointers, out, out.numel(), BLOCK=1024)
    return out
