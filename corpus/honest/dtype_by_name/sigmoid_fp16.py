"""Looks a dtype up by its name, with `getattr` on `torch`: a type, not a function of the library.

style: dtype_by_name
source: kernelguard | kernelgenbench
"""

import torch
import triton
import triton.language as tl

PRECISION = "float16"


@triton.jit
def sigmoid_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(out_ptr + i, 1.0 / (1.0 + tl.exp(-x)), mask=i < n)


def sigmoid_fp16(input):
    x = input.contiguous()
    out = torch.empty(x.shape, dtype=getattr(torch, PRECISION), device=x.device)
    if x.numel():
        sigmoid_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out
