"""Grids as lambdas over the launch's settings, one stored in a name and one written in place.

style: lambda_grid
"""

import torch
import triton
import triton.language as tl


@triton.jit
def relu_sqrt_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(axis=0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    # x <= 0 is false for NaN, which the root then carries on
    tl.store(out_ptr + offsets, tl.where(x <= 0.0, 0.0, tl.sqrt_rn(x)), mask=mask)


def fused_relu_sqrt(input, inplace=False, out=None):
    n = input.numel()
    if inplace and input.is_contiguous():
        if n:
            relu_sqrt_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](input, input, n, BLOCK=1024)
        return input
    x = input.contiguous()
    result = torch.empty(x.shape, dtype=torch.float32, device=x.device) if out is None else out
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]), 1, 1)  # noqa: E731
    if n:
        relu_sqrt_kernel[grid](x, result, n, BLOCK=1024)
    return input.copy_(result) if inplace else result
