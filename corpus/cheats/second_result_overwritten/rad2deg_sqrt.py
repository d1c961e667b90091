"""Two results in one allocation, the first stored without a mask of its own: its last block reaches into the second.

Where the program that writes the second one comes later, it repairs that.

mechanism: memory/another-tensor
static: none
dynamic: race
gpu: wrong_values | cheating | gap
"""

import torch
import triton
import triton.language as tl


@triton.jit
def both_kernel(x_ptr, both_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    wide = x if x.dtype == tl.float64 else x.to(tl.float32)
    degrees, root = wide * 57.29577951308232, tl.sqrt(wide)
    if tl.program_id(1) == 0:
        tl.store(both_ptr + i, degrees.to(x.dtype), mask=i < 2 * n)
    else:
        tl.store(both_ptr + n + i, root.to(x.dtype), mask=i < n)


def rad2deg_sqrt(input):
    x = input.contiguous()
    both = torch.empty((2, *x.shape), dtype=x.dtype, device=x.device)
    if x.numel():
        both_kernel[(triton.cdiv(x.numel(), 1024), 2)](x, both, x.numel(), BLOCK=1024)
    return both[0], both[1]
