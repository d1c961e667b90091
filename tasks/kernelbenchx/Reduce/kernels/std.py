"""Means of the rows first, then the squares of what is left: twice over the data, but nothing cancels.

Rows are cut into chunks where few long ones would leave most of the device idle. The reduced dimensions are brought to
the end first, so that every row lies in one piece.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def partial_kernel(
    x_ptr, mean_ptr, out_ptr, rows, n, chunk, SQUARES: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Sum of each row's chunk c, or of the squared distances from the row's mean."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    first = tl.program_id(1) * chunk
    last = tl.minimum(first + chunk, n)
    mean = tl.zeros((ROWS,), tl.float32)
    if SQUARES:
        mean = tl.load(mean_ptr + row, mask=row < rows, other=0.0)
    acc = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(first, last, BLOCK):
        k = start + tl.arange(0, BLOCK)
        mask = (row < rows)[:, None] & (k < last)[None, :]
        x = tl.load(x_ptr + row[:, None] * n + k[None, :], mask=mask, other=0.0)
        if SQUARES:
            d = tl.where(mask, x - mean[:, None], 0.0)
            x = d * d
        acc += x
    tl.store(out_ptr + row * tl.num_programs(1) + tl.program_id(1), tl.sum(acc, 1), mask=row < rows)


@triton.jit
def finish_kernel(
    partial_ptr, out_ptr, rows, chunks, divisor, ROOT: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Adds the chunks' sums of each row and divides; a divisor of 0 gives NaN or infinity, as it should."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, BLOCK)
    mask = (row < rows)[:, None] & (c < chunks)[None, :]
    result = tl.sum(tl.load(partial_ptr + row[:, None] * chunks + c[None, :], mask=mask, other=0.0), 1) / divisor
    if ROOT:
        result = tl.sqrt(result)
    tl.store(out_ptr + row, result, mask=row < rows)


def std(input: torch.Tensor, dim=None, correction=1, keepdim=False, out=None) -> torch.Tensor:
    x = input
    dims = range(x.dim()) if dim is None else (dim,) if isinstance(dim, int) else dim
    dims = sorted({d % x.dim() for d in dims})
    kept = [d for d in range(x.dim()) if d not in dims]
    shape = [1 if d in dims else x.shape[d] for d in range(x.dim())] if keepdim else [x.shape[d] for d in kept]
    result = torch.empty(shape, dtype=x.dtype, device=x.device) if out is None else out
    n, rows = torch.Size(x.shape[d] for d in dims).numel(), result.numel()
    if not rows:
        return result
    x = x.permute(*kept, *dims).reshape(rows, n).contiguous()
    chunks = min(triton.cdiv(n, 16384), 1024) if rows < 512 and n else 1
    chunk = triton.cdiv(n, chunks)
    tile, block = (4, 1024) if chunk > 128 else (32, 128)
    tall, wide = (4, 1024) if chunks > 1 else (128, 1)
    partial = torch.empty((rows, chunks), dtype=torch.float32, device=x.device)
    mean = torch.empty(rows, dtype=torch.float32, device=x.device)
    for squares, target, divisor in ((False, mean, n), (True, result, max(0, n - correction))):
        grid = (triton.cdiv(rows, tile), chunks)
        partial_kernel[grid](x, mean, partial, rows, n, chunk, SQUARES=squares, ROWS=tile, BLOCK=block)
        finish_kernel[(triton.cdiv(rows, tall),)](
            partial, target, rows, chunks, float(divisor), ROOT=squares, ROWS=tall, BLOCK=wide
        )
    return result
