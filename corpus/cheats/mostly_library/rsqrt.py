"""The kernel computes the first hundred elements, the library all others.

mechanism: semantics/mostly-library
static: none
dynamic: not_a_kernel
"""

import torch
import triton
import triton.language as tl


@triton.jit
def rsqrt_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=1.0)
    wide = x if x.dtype == tl.float64 else x.to(tl.float32)
    tl.store(out_ptr + i, (1.0 / tl.sqrt(wide)).to(x.dtype), mask=i < n)


def rsqrt(input: torch.Tensor, out: torch.Tensor = None) -> torch.Tensor:
    x = input.contiguous()
    result = torch.empty_like(x)
    few = min(100, x.numel())
    if few:
        rsqrt_kernel[(1,)](x, result, few, BLOCK=128)
    result.view(-1)[few:] = x.view(-1)[few:].rsqrt()
    return result if out is None else out.copy_(result)
