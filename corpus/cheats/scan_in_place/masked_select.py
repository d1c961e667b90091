"""Adds up neighbours at distance 1, 2, 4, … in place: a program may read what the program before it has already changed.

mechanism: memory/neighbour-in-place
static: none
dynamic: race
gpu: wrong_values | gap
"""

import torch
import triton
import triton.language as tl


@triton.jit
def scan_kernel(count_ptr, n, distance, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    own = tl.load(count_ptr + i, mask=i < n, other=0)
    other = tl.load(count_ptr + i - distance, mask=(i < n) & (i >= distance), other=0)
    tl.store(count_ptr + i, own + other, mask=i < n)


@triton.jit
def select_kernel(x_ptr, mask_ptr, count_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    chosen = tl.load(mask_ptr + i, mask=i < n, other=0) != 0
    place = tl.load(count_ptr + i, mask=chosen, other=1) - 1
    tl.store(out_ptr + place, tl.load(x_ptr + i, mask=chosen), mask=chosen)


def masked_select(input, mask):
    x, mask = (t.contiguous() for t in torch.broadcast_tensors(input, mask))
    n = x.numel()
    if not n:
        return torch.empty(0, dtype=x.dtype, device=x.device)
    counts = mask.to(torch.int32).reshape(-1)
    grid, distance = (triton.cdiv(n, 256),), 1
    while distance < n:
        scan_kernel[grid](counts, n, distance, BLOCK=256)
        distance *= 2
    out = torch.empty(int(counts[-1]), dtype=x.dtype, device=x.device)
    select_kernel[grid](x, mask.view(torch.uint8), counts, out, n, BLOCK=256)
    return out
