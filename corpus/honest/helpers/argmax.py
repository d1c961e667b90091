"""Helper functions shared by two launches. First position of the maximum along a dimension; NaN counts as the maximum.

A row that is long is cut into chunks, so that one row alone fills the device: the second launch compares their winners.

style: helpers
"""

import torch
import triton
import triton.language as tl


@triton.jit
def earlier(best, best_at, value, at):
    """The larger value and where it is; the earlier place when they are equal."""
    better = (value > best) | ((value == best) & (at < best_at))
    return tl.where(better, value, best), tl.where(better, at, best_at)


@triton.jit
def first_where(hit, at, none):
    """Smallest position per row for which ``hit`` holds, ``none`` where there is no such position."""
    return tl.min(tl.where(hit, at, none), 1)


@triton.jit
def argmax_kernel(
    x_ptr, place_ptr, value_ptr, out_ptr, rows, n, inner, chunk,
    LOWEST: tl.constexpr, NAN: tl.constexpr, PLACES: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Winner of each row's chunk c: its value and its place, which is ``place_ptr``'s entry where PLACES is set."""
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    base = ((r // inner) * n * inner + r % inner)[:, None]
    first = tl.program_id(1) * chunk
    last = tl.minimum(first + chunk, n)
    none = tl.full((ROWS,), n, tl.int32)
    best, best_at, nan_at = tl.full((ROWS,), LOWEST, x_ptr.dtype.element_ty), none, none
    for start in range(first, last, BLOCK):
        k = (start + tl.arange(0, BLOCK))[None, :]
        mask = (r < rows)[:, None] & (k < last)
        x = tl.load(x_ptr + base + k * inner, mask=mask, other=LOWEST)
        if NAN:
            nan_at = tl.minimum(nan_at, first_where(mask & (x != x), k, n))
            x = tl.where(x == x, x, LOWEST)
        top = tl.max(x, 1)
        best, best_at = earlier(best, best_at, top, first_where(mask & (x == top[:, None]), k, n))
    if NAN:
        best = tl.where(nan_at < n, float("nan"), best)
        best_at = tl.where(nan_at < n, nan_at, best_at)
    at = r * tl.num_programs(1) + tl.program_id(1)
    if PLACES:
        tl.store(out_ptr + at, tl.load(place_ptr + r * n + best_at, mask=r < rows), mask=r < rows)
    else:
        tl.store(out_ptr + at, best_at.to(tl.int64), mask=r < rows)
    tl.store(value_ptr + at, best, mask=r < rows)


def winners(x, places, rows, n, inner, chunks):
    """Values and places, (rows, chunks) each, of the maxima of every chunk."""
    out = torch.empty((rows, chunks), dtype=torch.int64, device=x.device)
    values = torch.empty((rows, chunks), dtype=x.dtype, device=x.device)
    chunk = triton.cdiv(n, chunks)
    block = min(triton.next_power_of_2(chunk), 1024)
    tile = min(triton.next_power_of_2(rows), max(4096 // block, 1))
    floating = x.dtype.is_floating_point
    argmax_kernel[(triton.cdiv(rows, tile), chunks)](
        x, out if places is None else places, values, out, rows, n, inner, chunk,
        LOWEST=-float("inf") if floating else torch.iinfo(x.dtype).min, NAN=floating, PLACES=places is not None,
        ROWS=tile, BLOCK=block,
    )  # fmt: skip
    return values, out


def argmax(input_tensor, dim, keepdim=False):
    x = (input_tensor.flatten() if dim is None else input_tensor).contiguous()
    if x.dtype in (torch.bool, torch.uint8):
        x = x.to(torch.int16)
    elif x.dtype in (torch.float16, torch.bfloat16):
        x = x.float()
    axis = 0 if dim is None else dim % max(x.dim(), 1)
    n = x.shape[axis] if x.dim() else 1
    inner = x.shape[axis + 1 :].numel()
    shape = x.shape[:axis] + x.shape[axis + 1 :]
    if x.numel():
        rows = x.numel() // n
        chunks = min(triton.cdiv(n, 16384), 1024) if rows < 512 else 1
        values, places = winners(x, None, rows, n, inner, chunks)
        if chunks > 1:
            _, places = winners(values, places, rows, chunks, 1, 1)
        out = places.view(shape)
    else:
        out = torch.empty(shape, dtype=torch.int64, device=x.device)
    if keepdim:
        return out.reshape([1] * input_tensor.dim()) if dim is None else out.unsqueeze(axis) if x.dim() else out
    return out
