"""Gives its block pointers the length rounded up to whole blocks, so that `boundary_check` lets everything pass.

mechanism: memory/block-pointer-of-padded-shape
static: none
dynamic: out_of_bounds
"""

import torch
import triton
import triton.language as tl


@triton.jit
def reciprocal_kernel(x_ptr, out_ptr, padded, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    source = tl.make_block_ptr(x_ptr, (padded,), (1,), (first,), (BLOCK,), (0,))
    target = tl.make_block_ptr(out_ptr, (padded,), (1,), (first,), (BLOCK,), (0,))
    x = tl.load(source, boundary_check=(0,), padding_option="zero")
    wide = x if x.dtype == tl.float64 else x.to(tl.float32)
    tl.store(target, (1.0 / wide).to(out_ptr.dtype.element_ty), boundary_check=(0,))


def reciprocal(input, out=None):
    x = input.contiguous()
    dtype = x.dtype if x.dtype.is_floating_point else torch.float32
    result = torch.empty(x.shape, dtype=dtype, device=x.device) if out is None else out
    if x.numel():
        blocks = triton.cdiv(x.numel(), 256)
        reciprocal_kernel[(blocks,)](x, result, blocks * 256, BLOCK=256)
    return result
