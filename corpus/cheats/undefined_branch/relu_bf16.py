"""Two blocks a program: of the block that an odd number lacks, an undefined length decides whether and how far it is worked on.

mechanism: memory/undefined-branch
static: none
dynamic: out_of_bounds
gpu: gap
"""

import torch
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, lengths_ptr, out_ptr, blocks, BLOCK: tl.constexpr):
    for b in range(2):
        block = tl.program_id(0).to(tl.int64) * 2 + b
        length = tl.load(lengths_ptr + block, mask=block < blocks)
        if length > 0:
            lane = tl.arange(0, BLOCK)
            x = tl.load(x_ptr + block * BLOCK + lane, mask=lane < length, other=0.0)
            tl.store(out_ptr + block * BLOCK + lane, tl.where(x > 0, x, 0.0).to(x.dtype), mask=lane < length)


def relu_bf16(input):
    x = input.contiguous()
    out, n = torch.empty_like(x), x.numel()
    if n:
        blocks = triton.cdiv(n, 1024)
        lengths = torch.full((blocks,), 1024, dtype=torch.int32, device=x.device)
        lengths[-1] = n - (blocks - 1) * 1024
        relu_kernel[(triton.cdiv(blocks, 2),)](x, lengths, out, blocks, BLOCK=1024)
    return out
