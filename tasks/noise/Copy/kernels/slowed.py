"""Copies block by block, and 3 % of the blocks a second time, elsewhere: `copy.py` but for EXTRA."""

import torch
import triton
import triton.language as tl

BLOCK = 1024
EXTRA = 0.03


@triton.jit
def copy_kernel(source, target, scratch, n, blocks, BLOCK: tl.constexpr):
    block = tl.program_id(0)
    again = block >= blocks
    offsets = tl.where(again, block - blocks, block) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    values = tl.load(source + offsets, mask=inside)
    if again:
        tl.store(scratch + offsets, values, mask=inside)
    else:
        tl.store(target + offsets, values, mask=inside)


def copy(x):
    target = torch.empty_like(x)
    n = x.numel()
    if n == 0:
        return target
    blocks = triton.cdiv(n, BLOCK)
    more = round(EXTRA * blocks)
    scratch = x.new_empty(max(1, more * BLOCK))
    copy_kernel[(blocks + more,)](x, target, scratch, n, blocks, BLOCK=BLOCK)
    return target
