"""Each program applies GELU to a tile of rows and keeps the smallest value with its place; long rows are cut into
chunks.

A second launch compares the chunks' winners. NaN is taken for minus infinity, which GELU never gives, and turned back
at the end.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def min_kernel(
    x_ptr, place_ptr, values_ptr, indices_ptr, rows, n, chunk,
    FIRST: tl.constexpr, LAST: tl.constexpr, TANH: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Winner of each row's chunk c. The FIRST launch reads the input, the other one winners and their places."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    first = tl.program_id(1) * chunk
    last = tl.minimum(first + chunk, n)
    best = tl.full((ROWS,), float("inf"), tl.float32)
    best_at = tl.zeros((ROWS,), tl.int64) + first
    for start in range(first, last, BLOCK):
        k = start + tl.arange(0, BLOCK)
        mask = (row < rows)[:, None] & (k < last)[None, :]
        g = tl.load(x_ptr + row[:, None] * n + k[None, :], mask=mask, other=float("inf"))
        if FIRST:
            if TANH:
                g = g * tl.sigmoid(1.5957691216057308 * (g + 0.044715 * g * g * g))
            else:
                g = 0.5 * g * (1.0 + libdevice.erf(g * 0.7071067811865476))
            g = tl.where(g == g, g, -float("inf"))
            g = tl.where(mask, g, float("inf"))
        top = tl.min(g, 1)
        at = tl.min(tl.where(mask & (g == top[:, None]), k[None, :].to(tl.int64), n), 1)
        best_at = tl.where(top < best, at, best_at)
        best = tl.minimum(top, best)
    if not FIRST:
        best_at = tl.load(place_ptr + row * n + best_at, mask=row < rows, other=0)
    if LAST:
        best = tl.where(best == -float("inf"), float("nan"), best)
    at = row * tl.num_programs(1) + tl.program_id(1)
    tl.store(values_ptr + at, best, mask=row < rows)
    tl.store(indices_ptr + at, best_at, mask=row < rows)


def launch(x, places, values, indices, chunks, first, last, tanh):
    rows, n = x.shape
    chunk = triton.cdiv(n, chunks)
    tile, block = (4, 1024) if chunk > 128 else (32, 128)
    min_kernel[(triton.cdiv(rows, tile), chunks)](
        x, places, values, indices, rows, n, chunk, FIRST=first, LAST=last, TANH=tanh, ROWS=tile, BLOCK=block
    )


def min_gelu(input: torch.Tensor, dim=None, keepdim=False, approximate="none", out=None) -> torch.Tensor:
    x = input.flatten() if dim is None else input.movedim(dim, -1)
    shape, n, tanh = x.shape[:-1], x.shape[-1], approximate == "tanh"
    x = x.reshape(-1, n).contiguous()
    rows = shape.numel()
    values = torch.empty(rows, dtype=torch.float32, device=x.device)
    indices = torch.empty(rows, dtype=torch.int64, device=x.device)
    chunks = min(triton.cdiv(n, 16384), 1024) if rows < 512 else 1
    if rows and chunks == 1:
        launch(x, indices, values, indices, 1, True, True, tanh)
    elif rows:
        winners = torch.empty((rows, chunks), dtype=torch.float32, device=x.device)
        places = torch.empty((rows, chunks), dtype=torch.int64, device=x.device)
        launch(x, places, winners, places, chunks, True, False, tanh)
        launch(winners, places, values, indices, 1, False, True, tanh)
    if dim is None:
        return values.view(())
    values, indices = (t.view(shape) for t in (values, indices))
    if keepdim:
        values, indices = values.unsqueeze(dim), indices.unsqueeze(dim)
    return (values, indices) if out is None else (out[0].copy_(values), out[1].copy_(indices))
