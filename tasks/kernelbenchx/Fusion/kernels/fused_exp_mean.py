"""The reduced dimensions are moved to the end, which makes a matrix whose rows are to be averaged; then two passes.

The first adds up exponentials, tiles of several rows and columns at a time; where a few rows are very long, many
programs share a row and leave partial sums, which the second pass adds up. Lanes beyond a row's end load -inf, whose
exponential is 0.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def sum_rows(
    x_ptr,
    out_ptr,
    count,
    rows,
    n,
    chunk,
    EXP: tl.constexpr,
    ACC: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """out[row, c] = the sum over chunk c of row of exp(x), or of x itself in the second pass, over count."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    first = tl.program_id(1) * chunk
    last = tl.minimum(first + chunk, n)
    acc = tl.zeros((ROWS, BLOCK), ACC)
    for start in range(first, last, BLOCK):
        k = start + tl.arange(0, BLOCK)
        mask = (row < rows)[:, None] & (k < last)[None, :]
        at = row[:, None] * n + k[None, :]
        if EXP:
            acc += tl.exp(tl.load(x_ptr + at, mask=mask, other=-float("inf"))).to(ACC)
        else:
            acc += tl.load(x_ptr + at, mask=mask, other=0.0).to(ACC)
    tl.store(out_ptr + row * tl.num_programs(1) + tl.program_id(1), tl.sum(acc, 1) / count, mask=row < rows)


def reduce_rows(x, out, count, chunks, exp):
    rows, n = x.shape
    chunk = triton.cdiv(n, chunks)
    block = min(triton.next_power_of_2(chunk), 1024)
    tile = min(triton.next_power_of_2(rows), max(4096 // block, 1))
    acc = tl.float64 if out.dtype == torch.float64 else tl.float32
    sum_rows[(triton.cdiv(rows, tile), chunks)](x, out, count, rows, n, chunk, EXP=exp, ACC=acc, ROWS=tile, BLOCK=block)


def fused_exp_mean(input, dim=None, keepdim=False, dtype=None, out=None):
    dims = range(input.dim()) if dim is None else (dim,) if isinstance(dim, int) else dim
    dims = sorted({d % input.dim() for d in dims}) if input.dim() else []
    kept = [d for d in range(input.dim()) if d not in dims]
    n = torch.Size(input.shape[d] for d in dims).numel()
    shape = [1 if d in dims else input.shape[d] for d in range(input.dim()) if keepdim or d not in dims]
    result = torch.empty(shape, dtype=dtype or input.dtype, device=input.device) if out is None else out
    if not n:
        result.fill_(float("nan"))
    elif result.numel():
        x = input.permute(*kept, *dims).reshape(-1, n).contiguous()
        # few long rows would leave most of the device idle: cut them
        chunks = min(triton.cdiv(n, 16384), 1024) if len(x) < 512 else 1
        if chunks > 1:
            partial = torch.empty((len(x), chunks), dtype=result.dtype, device=x.device)
            reduce_rows(x, partial, 1, chunks, exp=True)
            reduce_rows(partial, result, n, 1, exp=False)
        else:
            reduce_rows(x, result, n, 1, exp=True)
    return result
