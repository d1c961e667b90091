"""Output element by output element.

breaks: non_contiguous
"""

import triton
import triton.language as tl


@triton.jit
def index_select_kernel(x_ptr, index_ptr, out_ptr, n, count, size, inner, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    picked = tl.load(index_ptr + (i // inner) % count, mask=i < n, other=0)
    source = ((i // inner // count) * size + picked) * inner + i % inner
    tl.store(out_ptr + i, tl.load(x_ptr + source, mask=i < n), mask=i < n)


def index_select(input, dim, index):
    shape = list(input.shape)
    shape[dim] = index.numel()
    out = input.new_empty(shape)
    n, inner = out.numel(), input.shape[dim % input.dim() + 1 :].numel()
    grid = (triton.cdiv(n, 1024),)
    index_select_kernel[grid](input, index, out, n, index.numel(), input.shape[dim], inner, BLOCK=1024)
    return out
