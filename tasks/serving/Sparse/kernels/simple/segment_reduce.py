"""A program has a segment by 64 columns, and goes through its rows one by one."""

import torch
import triton
import triton.language as tl


@triton.jit
def segments_kernel(x_ptr, offsets_ptr, out_ptr, D, MEAN: tl.constexpr, MAX: tl.constexpr, BLOCK: tl.constexpr):
    segment = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = columns < D
    first, last = tl.load(offsets_ptr + segment), tl.load(offsets_ptr + segment + 1)
    acc = tl.zeros((BLOCK,), tl.float32)
    for row in range(first, last):
        x = tl.load(x_ptr + row * D + columns, mask=mask, other=0.0).to(tl.float32)
        if MAX:
            acc = tl.where(row == first, x, tl.maximum(acc, x))
        else:
            acc += x
    if MEAN:
        acc = acc / tl.maximum(last - first, 1)
    tl.store(out_ptr + segment * D + columns, acc.to(tl.bfloat16), mask=mask)


def segment_reduce(x, offsets, reduce: str = "sum"):
    segments, D = offsets.numel() - 1, x.shape[1]
    out = torch.empty((segments, D), dtype=x.dtype, device=x.device)
    grid = (segments, triton.cdiv(D, 64))
    segments_kernel[grid](x, offsets, out, D, MEAN=reduce == "mean", MAX=reduce == "max", BLOCK=64)
    return out
