"""Sums of rows in one pass, or in two where few long rows would leave most of the device idle; the last pass divides.

The reduced dimensions are brought to the end first, so that every row lies in one piece.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def sum_rows(x_ptr, out_ptr, rows, n, chunk, count, ACC: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """out[row, c] = sum of x[row, c * chunk : (c + 1) * chunk] / count; a program takes ROWS rows of one chunk c."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    first = tl.program_id(1) * chunk
    last = tl.minimum(first + chunk, n)
    acc = tl.zeros((ROWS, BLOCK), ACC)
    for start in range(first, last, BLOCK):
        k = start + tl.arange(0, BLOCK)
        mask = (row < rows)[:, None] & (k < last)[None, :]
        acc += tl.load(x_ptr + row[:, None] * n + k[None, :], mask=mask, other=0.0).to(ACC)
    tl.store(out_ptr + row * tl.num_programs(1) + tl.program_id(1), tl.sum(acc, 1) / count, mask=row < rows)


def reduce_rows(x, out, chunks, count):
    rows, n = x.shape
    chunk = triton.cdiv(n, chunks)
    tile, block = (4, 1024) if chunk > 128 else (32, 128)
    acc = tl.float64 if out.dtype == torch.float64 else tl.float32
    grid = (triton.cdiv(rows, tile), chunks)
    sum_rows[grid](x, out, rows, n, chunk, count, ACC=acc, ROWS=tile, BLOCK=block)


def mean(input_tensor, dim, keepdim=False, dtype=None, out=None):
    x = input_tensor
    dims = sorted({d % x.dim() for d in ((dim,) if isinstance(dim, int) else dim)})
    kept = [d for d in range(x.dim()) if d not in dims]
    shape = [1 if d in dims else x.shape[d] for d in range(x.dim())] if keepdim else [x.shape[d] for d in kept]
    result = torch.empty(shape, dtype=dtype or x.dtype, device=x.device) if out is None else out
    n, rows = torch.Size(x.shape[d] for d in dims).numel(), result.numel()
    if not rows:
        return result
    x = x.permute(*kept, *dims).reshape(rows, n).contiguous()
    chunks = min(triton.cdiv(n, 16384), 1024) if rows < 512 and n else 1
    if chunks > 1:
        wide = torch.float64 if result.dtype == torch.float64 else torch.float32
        partial = torch.empty((rows, chunks), dtype=wide, device=x.device)
        reduce_rows(x, partial, chunks, 1)
        x = partial
    reduce_rows(x, result, 1, n)
    return result
