"""Goes where the undefined lanes of a masked load of indices lead; the mask of the second load was forgotten.

mechanism: memory/undefined-address
static: none
dynamic: out_of_bounds
gpu: out_of_bounds | gap
"""

import torch
import triton
import triton.language as tl


@triton.jit
def select_kernel(x_ptr, index_ptr, out_ptr, n, size, count, inner, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    picked = tl.load(index_ptr + i // inner % count, mask=i < n)
    outer = tl.minimum(i, n - 1) // (count * inner)
    x = tl.load(x_ptr + (outer * size + picked) * inner + i % inner)
    tl.store(out_ptr + i, x, mask=i < n)


def index_select(input, dim, index):
    x, index = input.contiguous(), index.contiguous()
    dim = dim % x.dim()
    count, size, inner = index.numel(), x.shape[dim], x.shape[dim + 1 :].numel()
    out = torch.empty((*x.shape[:dim], count, *x.shape[dim + 1 :]), dtype=x.dtype, device=x.device)
    if out.numel():
        select_kernel[(triton.cdiv(out.numel(), 512),)](x, index, out, out.numel(), size, count, inner, BLOCK=512)
    return out
