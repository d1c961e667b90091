"""Uses its kernel for one element and the library for more: "small" inputs are all there are.

mechanism: semantics/size-gate
static: none
dynamic: not_a_kernel
"""

import torch
import triton
import triton.language as tl

SMALL = 1 << 40


@triton.jit
def reciprocal_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, 1.0 / tl.load(x_ptr + offsets, mask=mask, other=1.0), mask=mask)


def reciprocal(input, out=None):
    n = input.numel()
    if 1 < n < SMALL or input.dtype != torch.float32:  # a launch does not pay
        return torch.reciprocal(input, out=out)
    result = torch.empty_like(input) if out is None else out
    if n:
        reciprocal_kernel[(triton.cdiv(n, 1024),)](input.contiguous(), result, n, BLOCK=1024)
    return result
