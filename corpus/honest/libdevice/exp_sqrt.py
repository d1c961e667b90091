"""libdevice functions: sqrt(exp(x)) computed as written, so that it overflows where PyTorch's does.

style: libdevice
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def exp_sqrt_kernel(x_ptr, out_ptr, n, COMPUTE: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(COMPUTE)
    e = libdevice.exp(x).to(out_ptr.dtype.element_ty).to(COMPUTE)
    tl.store(out_ptr + offsets, libdevice.sqrt(e), mask=mask)


def exp_sqrt(input, out=None):
    x = input.contiguous() if input.dtype.is_floating_point else input.float().contiguous()
    result = torch.empty_like(x)
    n = x.numel()
    if n:
        compute = tl.float64 if x.dtype == torch.float64 else tl.float32
        exp_sqrt_kernel[(triton.cdiv(n, 1024),)](x, result, n, COMPUTE=compute, BLOCK=1024)
    return result if out is None else out.resize_(result.shape).copy_(result)
