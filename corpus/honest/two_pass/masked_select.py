"""Stream compaction: count per block, scan the counts, write each kept element to its place. Order is kept.

style: two_pass
"""

import torch
import triton
import triton.language as tl

BLOCK = 2048


@triton.jit
def count_kernel(mask_ptr, counts_ptr, n, BLOCK: tl.constexpr):
    block = tl.program_id(0)
    i = block.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    kept = tl.load(mask_ptr + i, mask=i < n, other=0).to(tl.int32)
    tl.store(counts_ptr + block, tl.sum(kept, 0))


@triton.jit
def scan_kernel(counts_ptr, starts_ptr, blocks, BLOCK: tl.constexpr):
    """starts[b] = counts[0] + … + counts[b - 1], and the total behind the last. One program."""
    total = tl.zeros((), tl.int64)
    for first in range(0, blocks, BLOCK):
        b = first + tl.arange(0, BLOCK)
        counts = tl.load(counts_ptr + b, mask=b < blocks, other=0).to(tl.int64)
        tl.store(starts_ptr + b, total + tl.cumsum(counts, 0) - counts, mask=b < blocks)
        total += tl.sum(counts, 0)
    tl.store(starts_ptr + blocks, total)


@triton.jit
def compact_kernel(x_ptr, mask_ptr, starts_ptr, out_ptr, n, BLOCK: tl.constexpr):
    block = tl.program_id(0)
    i = block.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    kept = tl.load(mask_ptr + i, mask=i < n, other=0).to(tl.int32)
    place = tl.load(starts_ptr + block) + tl.cumsum(kept, 0) - 1
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + place, x, mask=(i < n) & (kept != 0))


def masked_select(input: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    x, mask = (t.contiguous() for t in torch.broadcast_tensors(input, mask))
    n = x.numel()
    if n == 0:
        return torch.empty(0, dtype=input.dtype, device=input.device)
    mask = mask.view(torch.uint8)
    blocks = triton.cdiv(n, BLOCK)
    counts = torch.empty(blocks, dtype=torch.int32, device=x.device)
    starts = torch.empty(blocks + 1, dtype=torch.int64, device=x.device)
    count_kernel[(blocks,)](mask, counts, n, BLOCK=BLOCK)
    scan_kernel[(1,)](counts, starts, blocks, BLOCK=min(triton.next_power_of_2(blocks), 4096))
    out = torch.empty(int(starts[-1].item()), dtype=input.dtype, device=x.device)
    compact_kernel[(blocks,)](x, mask, starts, out, n, BLOCK=BLOCK)
    return out
