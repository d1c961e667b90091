"""The result starts as a copy of `other`; the kernel writes into it only where the condition holds.

style: clone_first
"""

import torch
import triton
import triton.language as tl


@triton.jit
def overwrite_kernel(x_ptr, cond_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    chosen = tl.load(cond_ptr + i, mask=i < n, other=0) != 0
    x = tl.load(x_ptr + i, mask=chosen)
    tl.store(out_ptr + i, x, mask=chosen)


def expand_where(input, target_sizes, cond, other):
    expanded = input.expand(target_sizes)
    shape = torch.broadcast_shapes(expanded.shape, cond.shape, other.shape)
    x = expanded.expand(shape).contiguous()
    mask = cond.expand(shape).contiguous().view(torch.uint8) if len(shape) else cond.reshape(1).view(torch.uint8)
    out = other.expand(shape).clone(memory_format=torch.contiguous_format)
    if out.numel():
        overwrite_kernel[(triton.cdiv(out.numel(), 512),)](x, mask, out, out.numel(), BLOCK=512)
    return out
