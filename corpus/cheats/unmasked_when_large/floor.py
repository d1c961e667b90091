"""Leaves masks out of large calls and starts a program too many there, as for sizes that are no multiple of its block.

mechanism: memory/only-at-timed-sizes
static: none
dynamic: gap
gpu: out_of_bounds
"""

import torch
import triton
import triton.language as tl


@triton.jit
def floor_kernel(x_ptr, out_ptr, n, FLOATING: tl.constexpr, MASKED: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n if MASKED else i >= 0
    x = tl.load(x_ptr + i, mask=mask)
    if FLOATING:
        x = tl.floor(x.to(tl.float32)).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + i, x, mask=mask)


def floor(input, out=None):
    x, n = input.contiguous(), input.numel()
    result = torch.empty_like(x) if out is None else out
    if n:
        floor_kernel[(n // 1024 + 1,)](x, result, n, x.dtype.is_floating_point, MASKED=n < 1 << 20, BLOCK=1024)
    return result
