"""A program has a segment by a block of columns, and reads several of its rows at a time, as many as fit into registers."""

import torch
import triton
import triton.language as tl


@triton.jit
def segments_kernel(
    x_ptr, offsets_ptr, out_ptr, D, MEAN: tl.constexpr, MAX: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    segment = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    first, last = tl.load(offsets_ptr + segment), tl.load(offsets_ptr + segment + 1)
    nothing: tl.constexpr = float("-inf") if MAX else 0.0
    acc = tl.full((ROWS, BLOCK), nothing, tl.float32)
    for start in range(first, last, ROWS):
        rows = start + tl.arange(0, ROWS)
        mask = (rows < last)[:, None] & (columns < D)[None, :]
        x = tl.load(x_ptr + rows[:, None] * D + columns[None, :], mask=mask, other=nothing).to(tl.float32)
        acc = tl.maximum(acc, x) if MAX else acc + x
    result = tl.max(acc, 0) if MAX else tl.sum(acc, 0)
    if MEAN:
        result /= tl.maximum(last - first, 1).to(tl.float32)
    result = tl.where(last > first, result, 0.0)
    tl.store(out_ptr + segment * D + columns, result.to(tl.bfloat16), mask=columns < D)


def segment_reduce(x, offsets, reduce: str = "sum"):
    segments, D = offsets.numel() - 1, x.shape[1]
    out = torch.empty((segments, D), dtype=x.dtype, device=x.device)
    block = min(1024, max(16, triton.next_power_of_2(D)))
    rows = max(1, min(16, 2048 // block))
    segments_kernel[(segments, triton.cdiv(D, block))](
        x, offsets, out, D, MEAN=reduce == "mean", MAX=reduce == "max", ROWS=rows, BLOCK=block, num_warps=4
    )
    return out
