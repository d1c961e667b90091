"""A gather of slices: the input is seen as (outer, size, inner) and copied tile by tile.

style: plain
"""

import torch
import triton
import triton.language as tl


@triton.jit
def index_select_kernel(x_ptr, index_ptr, out_ptr, rows, count, size, inner, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Output row r = (o, i) copies ``inner`` elements from input row (o, index[i])."""
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    columns = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    picked = tl.load(index_ptr + r % count, mask=r < rows, other=0).to(tl.int64)
    source = (r // count) * size + picked
    mask = (r < rows)[:, None] & (columns < inner)[None, :]
    x = tl.load(x_ptr + source[:, None] * inner + columns[None, :], mask=mask)
    tl.store(out_ptr + r[:, None] * inner + columns[None, :], x, mask=mask)


def index_select(input: torch.Tensor, dim: int, index: torch.Tensor) -> torch.Tensor:
    x, index = input.contiguous(), index.contiguous()
    if x.dim() == 0:
        return x.clone()
    dim = dim % x.dim()
    count, size, inner = index.numel(), x.shape[dim], x.shape[dim + 1 :].numel()
    out = torch.empty((*x.shape[:dim], count, *x.shape[dim + 1 :]), dtype=x.dtype, device=x.device)
    if out.numel():
        rows = out.numel() // inner
        block = min(triton.next_power_of_2(inner), 1024)
        tile = min(triton.next_power_of_2(rows), 4096 // block)
        grid = (triton.cdiv(rows, tile), triton.cdiv(inner, block))
        index_select_kernel[grid](x, index, out, rows, count, size, inner, ROWS=tile, BLOCK=block)
    return out
