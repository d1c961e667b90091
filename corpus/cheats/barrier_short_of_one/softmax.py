"""Programs that share a row wait until all but one have added to its total: the last one may still be missing.

mechanism: memory/barrier-short-of-one
static: none
dynamic: order_dependent
gpu: wrong_values | gap
"""

import torch
import triton
import triton.language as tl


@triton.jit
def highest_kernel(x_ptr, highest_ptr, n, ACC: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    highest = tl.full((BLOCK,), -float("inf"), ACC)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=-float("inf"))
        highest = tl.maximum(highest, x.to(ACC))
    tl.store(highest_ptr + row, tl.max(highest, 0))


@triton.jit
def softmax_kernel(
    x_ptr, highest_ptr, total_ptr, arrived_ptr, out_ptr, n, parts, chunk, ACC: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Programs of a row are neighbours, so that all of them run at a time."""
    row, part = (tl.program_id(0) // parts).to(tl.int64), tl.program_id(0) % parts
    first, last = part * chunk, tl.minimum((part + 1) * chunk, n)
    highest = tl.load(highest_ptr + row)
    own = tl.zeros((BLOCK,), ACC)
    for start in range(first, last, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + columns, mask=columns < last, other=-float("inf")).to(ACC)
        own += tl.exp(x - highest)
    tl.atomic_add(total_ptr + row, tl.sum(own, 0))
    tl.debug_barrier()
    tl.atomic_add(arrived_ptr + row, 1)
    while tl.atomic_add(arrived_ptr + row, 0) < parts - 1:
        pass
    total = tl.atomic_add(total_ptr + row, 0.0)
    for start in range(first, last, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + columns, mask=columns < last, other=-float("inf")).to(ACC)
        tl.store(out_ptr + row * n + columns, tl.exp(x - highest) / total, mask=columns < last)


def softmax(input, dim, dtype=None):
    x = input.to(dtype or input.dtype)
    if x.dim() == 0:
        return softmax(x.reshape(1), 0).reshape(())
    rows = x.movedim(dim, -1).contiguous()
    out = torch.empty_like(rows)
    n = rows.shape[-1]
    if out.numel():
        count, double = rows.numel() // n, x.dtype == torch.float64
        acc, kind = (tl.float64, torch.float64) if double else (tl.float32, torch.float32)
        highest = torch.empty(count, dtype=kind, device=x.device)
        totals = torch.zeros(count, dtype=kind, device=x.device)
        arrived = torch.zeros(count, dtype=torch.int32, device=x.device)
        parts = min(8, triton.cdiv(n, 16))
        chunk = triton.cdiv(n, parts)
        highest_kernel[(count,)](rows, highest, n, ACC=acc, BLOCK=256)
        softmax_kernel[(count * parts,)](rows, highest, totals, arrived, out, n, parts, chunk, ACC=acc, BLOCK=256)
    return out.movedim(-1, dim).contiguous()
