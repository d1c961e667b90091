"""The reduced dimension is moved to the end, and the rows of the matrix that this makes are searched, a few at a time.

Every lane keeps the smallest value it has met and its place; at the end the lanes of a row are compared. The minimum of
everything is one long row: many programs take a chunk each, and a second pass finds the smallest of their values.
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
def min_kernel(
    x_ptr, value_ptr, place_ptr, rows, n, chunk,
    GELU: tl.constexpr, TANH: tl.constexpr, PLACES: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    first = tl.program_id(1) * chunk
    last = tl.minimum(first + chunk, n)
    best = tl.full((ROWS, BLOCK), float("inf"), tl.float32)
    place = tl.zeros((ROWS, BLOCK), tl.int32)
    has_nan = tl.zeros((ROWS, BLOCK), tl.int32)
    for start in range(first, last, BLOCK):
        k = start + tl.arange(0, BLOCK)
        mask = (row < rows)[:, None] & (k < last)[None, :]
        g = tl.load(x_ptr + row[:, None] * n + k[None, :], mask=mask, other=float("inf"))
        if GELU:
            g = gelu(g, TANH)
        is_nan = (g != g) & mask
        # NaN is smaller than every number: in the lane's memory it is -inf
        g = tl.where(is_nan, -float("inf"), g)
        better = (g < best) & mask
        place = tl.where(better, k[None, :], place)
        best = tl.where(better, g, best)
        has_nan |= is_nan.to(tl.int32)
    smallest = tl.min(best, 1)
    at = row * tl.num_programs(1) + tl.program_id(1)
    tl.store(value_ptr + at, tl.where(tl.max(has_nan, 1) != 0, float("nan"), smallest), mask=row < rows)
    if PLACES:
        place = tl.min(tl.where(best == smallest[:, None], place, 2147483647), 1)
        tl.store(place_ptr + row, place.to(tl.int64), mask=row < rows)


def search(x, values, places, tanh, chunks, with_gelu=True):
    rows, n = x.shape
    chunk = triton.cdiv(n, chunks)
    block = min(triton.next_power_of_2(chunk), 1024)
    tile = min(triton.next_power_of_2(rows), max(4096 // block, 1))
    min_kernel[(triton.cdiv(rows, tile), chunks)](
        x, values, places, rows, n, chunk,
        GELU=with_gelu, TANH=tanh, PLACES=places is not None, ROWS=tile, BLOCK=block,
    )  # fmt: skip


def fused_gelu_min(input, approximate="none", dim=None, keepdim=False, out=None):
    tanh = approximate == "tanh"
    if dim is None:
        x = input.reshape(1, -1).contiguous()
        value = torch.empty((), dtype=input.dtype, device=input.device) if out is None else out
        chunks = min(triton.cdiv(x.numel(), 16384), 1024)
        if chunks > 1:
            partial = torch.empty((1, chunks), dtype=input.dtype, device=input.device)
            search(x, partial, None, tanh, chunks)
            search(partial, value, None, tanh, 1, with_gelu=False)
        else:
            search(x, value, None, tanh, 1)
        return value
    dim = dim % input.dim()
    shape = list(input.shape)
    shape[dim : dim + 1] = [1] if keepdim else []
    if out is None:
        out = tuple(torch.empty(shape, dtype=dtype, device=input.device) for dtype in (input.dtype, torch.int64))
    if out[0].numel():
        search(input.movedim(dim, -1).reshape(-1, input.shape[dim]).contiguous(), *out, tanh, 1)
    return out
