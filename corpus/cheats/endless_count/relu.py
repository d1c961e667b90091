"""A kernel that counts for ever, in registers alone. The device must serve the next candidate.

mechanism: verdict/endless-count
static: none
dynamic: timeout
"""

import torch
import triton
import triton.language as tl


@triton.jit
def count_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    count = tl.load(x_ptr).to(tl.int32) & 7
    while count >= 0:
        count = (count * 5 + 1) & 1023
    tl.store(out_ptr + i, tl.maximum(x, 0) + count, mask=i < n)


def relu(input, inplace=False):
    x = input.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        count_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return input.copy_(out) if inplace else out
