"""The reduced dimensions are moved to the end, which makes a matrix of rows; then two kernels.

The first takes a chunk of each of a few rows and goes over it twice, for its mean and for the sum of squares around
that mean, so that nothing cancels. The second merges the chunks: the squares around the common mean are those around
the chunks' own means, plus each chunk's size times its mean's distance squared.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def gelu(x, TANH: tl.constexpr):
    if TANH:
        # (1 + tanh(u)) / 2 is sigmoid(2u)
        return x * tl.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))
    return 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))


@triton.jit
def chunk_kernel(
    x_ptr, mean_ptr, squares_ptr, rows, n, chunk, TANH: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    first = tl.program_id(1) * chunk
    last = tl.minimum(first + chunk, n)
    acc = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(first, last, BLOCK):
        k = start + tl.arange(0, BLOCK)
        mask = (row < rows)[:, None] & (k < last)[None, :]
        # gelu(0) is 0: lanes beyond the end add nothing
        acc += gelu(tl.load(x_ptr + row[:, None] * n + k[None, :], mask=mask, other=0.0), TANH)
    mean = tl.sum(acc, 1) / tl.maximum(last - first, 1)
    acc = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(first, last, BLOCK):
        k = start + tl.arange(0, BLOCK)
        mask = (row < rows)[:, None] & (k < last)[None, :]
        away = gelu(tl.load(x_ptr + row[:, None] * n + k[None, :], mask=mask, other=0.0), TANH) - mean[:, None]
        acc += tl.where(mask, away * away, 0.0)
    at = row * tl.num_programs(1) + tl.program_id(1)
    tl.store(mean_ptr + at, mean, mask=row < rows)
    tl.store(squares_ptr + at, tl.sum(acc, 1), mask=row < rows)


@triton.jit
def merge_kernel(
    mean_ptr, squares_ptr, out_ptr, rows, n, chunk, chunks, divisor, ROWS: tl.constexpr, CHUNKS: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, CHUNKS)
    mask = (row < rows)[:, None] & (c < chunks)[None, :]
    at = row[:, None] * chunks + c[None, :]
    mean = tl.load(mean_ptr + at, mask=mask, other=0.0)
    size = tl.where(c < chunks, tl.maximum(tl.minimum(chunk, n - c * chunk), 0), 0).to(tl.float32)[None, :]
    common = tl.sum(mean * size, 1) / n
    away = mean - common[:, None]
    squares = tl.load(squares_ptr + at, mask=mask, other=0.0) + size * away * away
    # a single value has no spread, but where multiplication and subtraction are fused its rounding error is left
    squares = tl.where(n == 1, 0.0, squares)
    tl.store(out_ptr + row, tl.sqrt(tl.sum(squares, 1) / divisor), mask=row < rows)


def fused_gelu_std(input, dim=None, keepdim=False, correction=1, approximate="none", out=None):
    dims = range(input.dim()) if dim is None else (dim,) if isinstance(dim, int) else dim
    dims = sorted({d % input.dim() for d in dims}) if input.dim() else []
    kept = [d for d in range(input.dim()) if d not in dims]
    n = torch.Size(input.shape[d] for d in dims).numel()
    shape = [1 if d in dims else input.shape[d] for d in range(input.dim()) if keepdim or d not in dims]
    if out is None:
        out = torch.empty(shape, dtype=input.dtype, device=input.device)
    if not n:
        out.fill_(float("nan"))
    elif out.numel():
        x = input.permute(*kept, *dims).reshape(-1, n).contiguous()
        rows = len(x)
        # few long rows would leave most of the device idle: cut them
        chunks = min(triton.cdiv(n, 16384), 1024) if rows < 512 else 1
        chunk = triton.cdiv(n, chunks)
        mean, squares = (torch.empty((rows, chunks), dtype=torch.float32, device=x.device) for _ in range(2))
        block = min(triton.next_power_of_2(chunk), 1024)
        tile = min(triton.next_power_of_2(rows), max(4096 // block, 1))
        chunk_kernel[(triton.cdiv(rows, tile), chunks)](
            x, mean, squares, rows, n, chunk, TANH=approximate == "tanh", ROWS=tile, BLOCK=block
        )
        width = triton.next_power_of_2(chunks)
        tile = max(1, min(triton.next_power_of_2(rows), 1024 // width))
        merge_kernel[(triton.cdiv(rows, tile),)](
            mean, squares, out, rows, n, chunk, chunks, float(max(0, n - correction)), ROWS=tile, CHUNKS=width
        )
    return out
