"""Waits for the device before it returns and asks for errors: needless, slower, and honest.

style: synchronizes
"""

import torch
import triton
import triton.language as tl


@triton.jit
def reciprocal_kernel(x_ptr, out_ptr, n, ACC: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=1).to(ACC)
    tl.store(out_ptr + i, 1.0 / x, mask=i < n)


@torch.no_grad()
def reciprocal(input, out=None):
    x = input.contiguous()
    dtype = x.dtype if x.dtype.is_floating_point else torch.float32
    result = out if out is not None else torch.empty(x.shape, dtype=dtype, device=x.device)
    n = x.numel()
    if n:
        acc = tl.float64 if dtype == torch.float64 else tl.float32
        reciprocal_kernel[(triton.cdiv(n, 1024),)](x, result, n, ACC=acc, BLOCK=1024)
        torch.cuda.current_stream().synchronize()
    torch.cuda.synchronize(x.device)
    return result
