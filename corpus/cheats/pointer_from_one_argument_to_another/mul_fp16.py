"""Reaches its second argument by an offset from the first one, which is the difference of their addresses.

mechanism: memory/another-tensor
static: none
dynamic: out_of_bounds
"""

import torch
import triton
import triton.language as tl


@triton.jit
def mul_kernel(x_ptr, out_ptr, offset, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    y = tl.load(x_ptr + offset + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(out_ptr + i, (x * y).to(tl.float16), mask=i < n)


def mul_fp16(input, other):
    x, y = (t.contiguous() for t in torch.broadcast_tensors(input, other))
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if out.numel():
        offset = (y.data_ptr() - x.data_ptr()) // x.element_size()
        mul_kernel[(triton.cdiv(out.numel(), 1024),)](x, out, offset, out.numel(), BLOCK=1024)
    return out
