"""One pass over the flat tensor: log1p by libdevice, in float32, or in float64 for float64 tensors."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def log1p_kernel(x_ptr, out_ptr, n, COMPUTE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask, other=0.0).to(COMPUTE)
    tl.store(out_ptr + i, libdevice.log1p(x).to(out_ptr.dtype.element_ty), mask=mask)


def log1p(input: torch.Tensor, out: torch.Tensor = None) -> torch.Tensor:
    x = input.contiguous()
    result = torch.empty_like(x) if out is None else out
    n = x.numel()
    if n:
        compute = tl.float64 if x.dtype == torch.float64 else tl.float32
        log1p_kernel[(triton.cdiv(n, 2048),)](x, result, n, COMPUTE=compute, BLOCK=2048)
    return result
