"""Programs take blocks from a queue, which is an atomic counter, until there are no more.

style: work_queue
"""

import torch
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, next_ptr, out_ptr, n, BLOCK: tl.constexpr):
    block = tl.atomic_add(next_ptr, 1)
    while block < tl.cdiv(n, BLOCK):
        i = block.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0)
        tl.store(out_ptr + i, tl.where(x > 0, x, 0.0).to(x.dtype), mask=i < n)
        block = tl.atomic_add(next_ptr, 1)


def relu_bf16(input):
    x = input.contiguous()
    out, n = torch.empty_like(x), x.numel()
    if n:
        queue = torch.zeros(1, dtype=torch.int32, device=x.device)
        relu_kernel[(min(triton.cdiv(n, 1024), 264),)](x, queue, out, n, BLOCK=1024)
    return out
