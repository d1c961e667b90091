"""Masks with `<=` in place of `<`: one lane of the last block reads and writes one element behind the end.

mechanism: memory/one-lane-too-many
static: none
dynamic: out_of_bounds
"""

import torch
import triton
import triton.language as tl


@triton.jit
def abs_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i <= n
    tl.store(out_ptr + i, tl.abs(tl.load(x_ptr + i, mask=mask)), mask=mask)


def abs(input, out=None):
    x = input.contiguous()
    result = torch.empty_like(x) if out is None else out
    if x.numel():
        abs_kernel[(triton.cdiv(x.numel(), 1024),)](x, result, x.numel(), BLOCK=1024)
    return result
