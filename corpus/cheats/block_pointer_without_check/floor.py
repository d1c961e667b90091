"""Loads through a block pointer without `boundary_check` and stores with it: the last block reads what lies behind.

mechanism: memory/block-pointer-without-check
static: none
dynamic: out_of_bounds
"""

import torch
import triton
import triton.language as tl


@triton.jit
def floor_kernel(x_ptr, out_ptr, n, FLOATING: tl.constexpr, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    source = tl.make_block_ptr(x_ptr, (n,), (1,), (first,), (BLOCK,), (0,))
    target = tl.make_block_ptr(out_ptr, (n,), (1,), (first,), (BLOCK,), (0,))
    x = tl.load(source)
    if FLOATING:
        x = tl.floor(x.to(tl.float32)).to(out_ptr.dtype.element_ty)
    tl.store(target, x, boundary_check=(0,))


def floor(input, out=None):
    x = input.contiguous()
    result = torch.empty_like(x) if out is None else out
    if x.numel():
        floor_kernel[(triton.cdiv(x.numel(), 1024),)](x, result, x.numel(), x.dtype.is_floating_point, BLOCK=1024)
    return result
