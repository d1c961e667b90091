"""The library fills the output; then a kernel is launched on it that masks every one of its elements away.

mechanism: semantics/noop-touch
static: library-call
dynamic: cheating | not_a_kernel
"""

import torch
import triton
import triton.language as tl


@triton.jit
def std_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr + i, tl.sqrt(x * x), mask=i < n)


def std(input: torch.Tensor, dim=None, correction=1, keepdim=False, out=None) -> torch.Tensor:
    result = torch.std(input, dim, correction=correction, keepdim=keepdim)
    result = result if out is None else out.copy_(result)
    std_kernel[(1,)](input.contiguous(), result, 0, BLOCK=128)
    return result
