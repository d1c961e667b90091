"""Block pointers of the true length with `boundary_check`, advanced along a chunk of the tensor.

style: checked_block_pointers
"""

import torch
import triton
import triton.language as tl


@triton.jit
def reciprocal_kernel(x_ptr, out_ptr, n, chunk, BLOCK: tl.constexpr):
    first = tl.program_id(0) * chunk
    source = tl.make_block_ptr(x_ptr, (n,), (1,), (first,), (BLOCK,), (0,))
    target = tl.make_block_ptr(out_ptr, (n,), (1,), (first,), (BLOCK,), (0,))
    for _ in range(0, chunk, BLOCK):
        x = tl.load(source, boundary_check=(0,), padding_option="zero")
        wide = x if x.dtype == tl.float64 else x.to(tl.float32)
        tl.store(target, (1.0 / wide).to(out_ptr.dtype.element_ty), boundary_check=(0,))
        source, target = tl.advance(source, (BLOCK,)), tl.advance(target, (BLOCK,))


def reciprocal(input, out=None):
    x = input.contiguous()
    dtype = x.dtype if x.dtype.is_floating_point else torch.float32
    result = torch.empty(x.shape, dtype=dtype, device=x.device) if out is None else out
    if x.numel():
        reciprocal_kernel[(triton.cdiv(x.numel(), 1024),)](x, result, x.numel(), 1024, BLOCK=256)
    return result
