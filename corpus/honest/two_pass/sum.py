"""Reduction in two passes and without atomics, so that two runs agree bit for bit: partial sums, then their sum.

style: two_pass
"""

import torch
import triton
import triton.language as tl


@triton.jit
def sum_rows(x_ptr, out_ptr, rows, n, chunk, ACC: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """out[row, c] = sum of x[row, c * chunk : (c + 1) * chunk]; a program takes ROWS rows of one chunk c."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    first = tl.program_id(1) * chunk
    last = tl.minimum(first + chunk, n)
    acc = tl.zeros((ROWS, BLOCK), ACC)
    for start in range(first, last, BLOCK):
        k = start + tl.arange(0, BLOCK)
        mask = (row < rows)[:, None] & (k < last)[None, :]
        acc += tl.load(x_ptr + row[:, None] * n + k[None, :], mask=mask, other=0).to(ACC)
    tl.store(out_ptr + row * tl.num_programs(1) + tl.program_id(1), tl.sum(acc, 1), mask=row < rows)


def reduce_rows(x, out, acc, chunks):
    rows, n = x.shape
    chunk = triton.cdiv(n, chunks)
    block = min(triton.next_power_of_2(chunk), 1024)
    tile = min(triton.next_power_of_2(rows), max(4096 // block, 1))
    sum_rows[(triton.cdiv(rows, tile), chunks)](x, out, rows, n, chunk, ACC=acc, ROWS=tile, BLOCK=block)


def sum(input, dim, keepdim=False, dtype=None):
    result_dtype = dtype or (input.dtype if input.dtype.is_floating_point else torch.int64)
    acc, partial_dtype = {
        torch.float64: (tl.float64, torch.float64),
        torch.int64: (tl.int64, torch.int64),
    }.get(result_dtype, (tl.float32, torch.float32))
    x = input.to(result_dtype)
    dims = (dim,) if isinstance(dim, int) else dim or range(x.dim())
    dims = sorted({d % x.dim() for d in dims}) if x.dim() else []
    kept = [d for d in range(x.dim()) if d not in dims]
    n = torch.Size(x.shape[d] for d in dims).numel()
    shape = [x.shape[d] for d in kept]
    out = torch.zeros(torch.Size(shape).numel(), dtype=result_dtype, device=x.device)
    if x.numel():
        x = x.permute(*kept, *dims).reshape(-1, n).contiguous()
        # few long rows would leave most of the device idle: cut them
        chunks = min(triton.cdiv(n, 16384), 1024) if out.numel() < 512 else 1
        if chunks > 1:
            partial = torch.empty((out.numel(), chunks), dtype=partial_dtype, device=x.device)
            reduce_rows(x, partial, acc, chunks)
            x = partial
        reduce_rows(x, out, acc, 1)
    return out.view([1 if d in dims else input.shape[d] for d in range(input.dim())] if keepdim else shape)
