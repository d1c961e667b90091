"""The kernel reads a module global that is no constexpr: Triton's interpreter accepts it, its compiler does not.

Must end as `compile_error`, on a machine without a GPU too.
"""

import torch
import triton
import triton.language as tl

THRESHOLD = 0.0


@triton.jit
def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.where(x <= THRESHOLD, THRESHOLD, x), mask=mask)


def relu(input: torch.Tensor, inplace: bool = False) -> torch.Tensor:
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        relu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    return input.copy_(out) if inplace else out
