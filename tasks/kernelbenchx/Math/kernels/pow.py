"""Power by libdevice. A number as exponent is an argument of the kernel; a tensor is read beside the base.

Only where shapes differ or memory has gaps are contiguous copies made first.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def pow_kernel(x_ptr, exponent, out_ptr, n, TENSOR: tl.constexpr, COMPUTE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask, other=1.0).to(COMPUTE)
    if TENSOR:  # noqa: SIM108
        y = tl.load(exponent + i, mask=mask, other=1.0).to(COMPUTE)
    else:
        y = tl.full((BLOCK,), exponent, COMPUTE)
    tl.store(out_ptr + i, libdevice.pow(x, y).to(out_ptr.dtype.element_ty), mask=mask)


def pow(input_tensor, exponent, out=None):
    tensor = isinstance(exponent, torch.Tensor)
    x = input_tensor
    if tensor:
        x, exponent = torch.broadcast_tensors(x, exponent)
    x, y = x.contiguous(), exponent.contiguous() if tensor else float(exponent)
    result = torch.empty_like(x) if out is None else out
    n = x.numel()
    if n:
        compute = tl.float64 if x.dtype == torch.float64 else tl.float32
        pow_kernel[(triton.cdiv(n, 1024),)](x, y, result, n, TENSOR=tensor, COMPUTE=compute, BLOCK=1024)
    return result
