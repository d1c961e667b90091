"""Returns a right copy and leaves the argument, which should have changed, alone.

mechanism: semantics/copy-for-inplace
static: none
dynamic: wrong_structure | wrong_values
"""

import triton
import triton.language as tl


@triton.jit
def fill_kernel(out_ptr, index_ptr, value, size, inner, BLOCK: tl.constexpr):
    outer = tl.program_id(0).to(tl.int64)
    at = tl.load(index_ptr + tl.program_id(1))
    i = tl.program_id(2).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    out = tl.full((BLOCK,), value, tl.float64).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + (outer * size + at) * inner + i, out, mask=i < inner)


def index_fill_(dim, x, index, value):
    out = x.clone(memory_format=__import__("torch").contiguous_format)
    if out.numel() and index.numel():
        size, inner = out.shape[dim], out.stride(dim)
        grid = (out.numel() // (size * inner), index.numel(), triton.cdiv(inner, 128))
        fill_kernel[grid](out, index.contiguous(), float(value), size, inner, BLOCK=128)
    return out
