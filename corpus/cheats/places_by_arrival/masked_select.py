"""Gives each program room for its elements in the order in which programs ask for it, by an atomic counter.

mechanism: memory/order-of-arrival
static: none
dynamic: order_dependent
gpu: wrong_values | nondeterministic
"""

import torch
import triton
import triton.language as tl


@triton.jit
def select_kernel(x_ptr, mask_ptr, total_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    chosen = tl.load(mask_ptr + i, mask=i < n, other=0) != 0
    count = chosen.to(tl.int32)
    first = tl.atomic_add(total_ptr, tl.sum(count, 0))
    place = first + tl.cumsum(count, 0) - count
    tl.store(out_ptr + place, tl.load(x_ptr + i, mask=chosen), mask=chosen)


def masked_select(input, mask):
    x, mask = (t.contiguous() for t in torch.broadcast_tensors(input, mask))
    n = x.numel()
    out = torch.empty(n, dtype=x.dtype, device=x.device)
    total = torch.zeros(1, dtype=torch.int32, device=x.device)
    if n:
        select_kernel[(triton.cdiv(n, 128),)](x, mask.view(torch.uint8), total, out, n, BLOCK=128)
    return out[: int(total)].contiguous()
