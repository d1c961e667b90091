"""Autotuned softmax along any dimension, without moving it: a tile of rows, one online pass and one to write.

style: autotune
"""

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[triton.Config({}, num_warps=4), triton.Config({}, num_warps=8)],
    key=["n", "inner"],
)
@triton.jit
def softmax_kernel(x_ptr, out_ptr, rows, n, inner, ACC: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Row r of (outer, n, inner) starts at r // inner * n * inner + r % inner and has stride ``inner``."""
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    base = ((r // inner) * n * inner + r % inner)[:, None]
    live = (r < rows)[:, None]
    top = tl.full((ROWS,), -float("inf"), ACC)
    total = tl.zeros((ROWS,), ACC)
    for start in range(0, n, BLOCK):
        k = (start + tl.arange(0, BLOCK))[None, :]
        x = tl.load(x_ptr + base + k * inner, mask=live & (k < n), other=-float("inf")).to(ACC)
        new_top = tl.maximum(top, tl.max(x, 1))
        # nothing but -inf so far: any finite shift keeps exp(-inf - shift) at 0 instead of NaN
        shift = tl.where(new_top == -float("inf"), 0.0, new_top)
        total = total * tl.exp(top - shift) + tl.sum(tl.exp(x - shift[:, None]), 1)
        top = new_top
    shift = tl.where(top == -float("inf"), 0.0, top)
    for start in range(0, n, BLOCK):
        k = (start + tl.arange(0, BLOCK))[None, :]
        x = tl.load(x_ptr + base + k * inner, mask=live & (k < n), other=-float("inf")).to(ACC)
        tl.store(out_ptr + base + k * inner, tl.exp(x - shift[:, None]) / total[:, None], mask=live & (k < n))


def softmax(input: torch.Tensor, dim: int, dtype: torch.dtype = None) -> torch.Tensor:
    x = input.to(dtype or input.dtype).contiguous()
    out = torch.empty_like(x)
    if x.numel():
        dim = dim % max(x.dim(), 1)
        n = x.shape[dim] if x.dim() else 1
        inner = x.shape[dim + 1 :].numel()
        rows = x.numel() // n
        block = min(triton.next_power_of_2(n), 2048)
        tile = max(1, min(triton.next_power_of_2(rows), 4096 // block, 64))
        acc = tl.float64 if x.dtype == torch.float64 else tl.float32
        softmax_kernel[(triton.cdiv(rows, tile),)](x, out, rows, n, inner, ACC=acc, ROWS=tile, BLOCK=block)
    return out
