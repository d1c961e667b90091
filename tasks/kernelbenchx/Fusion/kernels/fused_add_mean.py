"""The reduced dimensions are moved to the end, which makes a matrix whose rows are to be averaged; then two passes.

The first adds up chunks of rows, tiles of several rows and columns at a time; where a few rows are very long, many
programs share a row and leave partial sums, which the second pass adds up. Nothing is atomic, so repeated runs agree.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def add_rows(
    x_ptr, y_ptr, out_ptr, alpha, count, rows, n, chunk,
    WITH_Y: tl.constexpr, SUM: tl.constexpr, ACC: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """out[row, c] = the sum over chunk c of row, over count; x + alpha * y is rounded to ``SUM``, as PyTorch does."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    first = tl.program_id(1) * chunk
    last = tl.minimum(first + chunk, n)
    acc = tl.zeros((ROWS, BLOCK), ACC)
    for start in range(first, last, BLOCK):
        k = start + tl.arange(0, BLOCK)
        mask = (row < rows)[:, None] & (k < last)[None, :]
        at = row[:, None] * n + k[None, :]
        x = tl.load(x_ptr + at, mask=mask, other=0)
        if WITH_Y:
            x += (alpha * tl.load(y_ptr + at, mask=mask, other=0)).to(SUM)
        acc += x.to(ACC)
    tl.store(out_ptr + row * tl.num_programs(1) + tl.program_id(1), tl.sum(acc, 1) / count, mask=row < rows)


def reduce_rows(x, y, out, alpha, count, chunks):
    rows, n = x.shape
    chunk = triton.cdiv(n, chunks)
    block = min(triton.next_power_of_2(chunk), 1024)
    tile = min(triton.next_power_of_2(rows), max(4096 // block, 1))
    kind = {torch.float32: tl.float32, torch.float64: tl.float64, torch.int32: tl.int32, torch.int64: tl.int64}
    add_rows[(triton.cdiv(rows, tile), chunks)](
        x, y, out, alpha, count, rows, n, chunk, WITH_Y=y is not None, SUM=kind[x.dtype],
        ACC=kind[out.dtype], ROWS=tile, BLOCK=block,
    )  # fmt: skip


def fused_add_mean(input, other, dim=None, alpha=1, keepdim=False, dtype=None, out=None):
    if not isinstance(other, torch.Tensor):
        other = torch.full((), other, dtype=input.dtype, device=input.device)
    x, y = torch.broadcast_tensors(input, other)
    dims = range(x.dim()) if dim is None else (dim,) if isinstance(dim, int) else dim
    dims = sorted({d % x.dim() for d in dims}) if x.dim() else []
    kept = [d for d in range(x.dim()) if d not in dims]
    n = torch.Size(x.shape[d] for d in dims).numel()
    shape = [1 if d in dims else x.shape[d] for d in range(x.dim()) if keepdim or d not in dims]
    result = torch.empty(shape, dtype=dtype or input.dtype, device=x.device) if out is None else out
    if not n:
        result.fill_(float("nan"))
    elif result.numel():
        x, y = (t.permute(*kept, *dims).reshape(-1, n).contiguous() for t in (x, y))
        # few long rows would leave most of the device idle: cut them
        chunks = min(triton.cdiv(n, 16384), 1024) if len(x) < 512 else 1
        if chunks > 1:
            partial = torch.empty((len(x), chunks), dtype=result.dtype, device=x.device)
            reduce_rows(x, y, partial, alpha, 1, chunks)
            x, y = partial, None
        reduce_rows(x, y, result, alpha, n, 1)
    return result
