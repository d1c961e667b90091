"""Gauss-Jordan elimination in place, by panels of WIDTH columns with two launches each; rows are never exchanged.

The first launch eliminates in the panel alone and thereby finds its pivot rows; the second does the same to all other columns,
as one product. They read one copy of the matrix and write another, so that no program waits for another. Copies are by columns:
a thread then has whole rows of the panel. At the end the matrix is the inverse, but for the order of its rows and columns: the
last launch puts them where they belong.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["n", "start"])
def eliminate_panel(
    source_ptr, target_ptr, row_ptr, column_ptr, n, start, PIVOT: tl.constexpr, WIDTH: tl.constexpr, BLOCK: tl.constexpr
):
    """``row_ptr`` gets the pivot row of each column, ``column_ptr`` the column of each pivot row (-1 for rows that are left)."""
    matrix = tl.program_id(0).to(tl.int64)
    row = tl.arange(0, BLOCK)
    local = tl.arange(0, WIDTH)
    at = matrix * n * n + (start + local)[:, None] * n + row[None, :]
    mask = (start + local < n)[:, None] & (row < n)[None, :]
    panel = tl.load(source_ptr + at, mask=mask, other=0.0)
    taken = tl.load(column_ptr + matrix * n + row, mask=row < n, other=0)
    for c in range(tl.minimum(WIDTH, n - start)):
        here = (local == c)[:, None]
        column = tl.sum(tl.where(here, panel, 0.0), 0)
        place = start + c
        if PIVOT:
            place = tl.argmax(tl.where(taken < 0, tl.abs(column), -1.0), 0)
        chosen = row == place
        pivot = tl.sum(tl.where(chosen, column, 0.0), 0)
        pivot_row = tl.sum(tl.where(chosen[None, :], panel, 0.0), 1)
        # the column itself is cleared; what the pivot row does to the others' identity takes its place
        pivot_row = tl.where(local == c, 1.0, pivot_row) / pivot
        rest = tl.where(here, 0.0, panel) - pivot_row[:, None] * column[None, :]
        panel = tl.where(chosen[None, :], pivot_row[:, None], rest)
        taken = tl.where(chosen, start + c, taken)
        tl.store(row_ptr + matrix * n + start + c, place)
    tl.store(target_ptr + at, panel, mask=mask)
    tl.store(column_ptr + matrix * n + row, taken, mask=row < n)


@triton.jit(do_not_specialize=["n", "start"])
def eliminate_others(
    source_ptr, target_ptr, row_ptr, column_ptr, n, start, WIDTH: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr
):
    """One block of all columns outside the panel: the pivot rows times the panel, which replace or change what was there."""
    matrix = tl.program_id(0).to(tl.int64)
    source_ptr += matrix * n * n
    target_ptr += matrix * n * n
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    col = tl.program_id(2) * COLS + tl.arange(0, COLS)
    local = tl.arange(0, 16)
    inside = (local < WIDTH) & (start + local < n)
    pivots = tl.load(row_ptr + matrix * n + start + local, mask=inside, other=0)
    top_mask = (col < n)[:, None] & inside[None, :]
    top = tl.load(source_ptr + col[:, None] * n + pivots[None, :], mask=top_mask, other=0.0)
    left_mask = inside[:, None] & (row < n)[None, :]
    left = tl.load(target_ptr + (start + local)[:, None] * n + row[None, :], mask=left_mask, other=0.0)

    at = col[:, None] * n + row[None, :]
    is_pivot = tl.load(column_ptr + matrix * n + row, mask=row < n, other=-1) >= start
    mask = (col < n)[:, None] & (row < n)[None, :]
    rest = tl.load(source_ptr + at, mask=mask & ~is_pivot[None, :], other=0.0)
    rest += tl.dot(top, left, input_precision="ieee", out_dtype=rest.dtype)
    outside = (col < start) | (col >= start + WIDTH)
    tl.store(target_ptr + at, rest, mask=mask & outside[:, None])


@triton.jit(do_not_specialize=["n"])
def put_in_order(source_ptr, result_ptr, row_ptr, n, ROWS: tl.constexpr, COLS: tl.constexpr):
    """Row i of the inverse stands in the pivot row of column i; its column j belongs to column j's pivot row."""
    matrix = tl.program_id(0).to(tl.int64)
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    col = tl.program_id(2) * COLS + tl.arange(0, COLS)
    from_row = tl.load(row_ptr + matrix * n + row, mask=row < n, other=0)
    to_col = tl.load(row_ptr + matrix * n + col, mask=col < n, other=0)
    mask = (row < n)[:, None] & (col < n)[None, :]
    found = tl.load(source_ptr + matrix * n * n + from_row[:, None] + col[None, :] * n, mask=mask)
    tl.store(result_ptr + matrix * n * n + row[:, None] * n + to_col[None, :], found, mask=mask)


def invert_matrix_lu(A, *, pivot=True, out=None):
    result = torch.empty(A.shape, dtype=A.dtype, device=A.device) if out is None else out
    if A.numel() == 0:
        return result
    n = A.shape[-1]
    batch = A.numel() // (n * n)
    source = A.mT.clone(memory_format=torch.contiguous_format)
    target = torch.empty_like(source)
    row = torch.empty(batch, n, dtype=torch.int32, device=A.device)
    column = torch.full((batch, n), -1, dtype=torch.int32, device=A.device)
    block = max(16, triton.next_power_of_2(n))
    # a panel stays in one program's registers: 128 KiB of them at most
    width = max(1, min(16, 2**17 // (block * A.element_size())))
    warps = min(16, max(1, block * width // 512))
    tile = min(64, block)
    grid = (batch, triton.cdiv(n, tile), triton.cdiv(n, tile))
    for start in range(0, n, width):
        eliminate_panel[(batch,)](
            source, target, row, column, n, start, PIVOT=pivot, WIDTH=width, BLOCK=block, num_warps=warps
        )
        eliminate_others[grid](
            source, target, row, column, n, start, WIDTH=width, ROWS=tile, COLS=tile, num_warps=8 if tile == 64 else 4
        )
        source, target = target, source
    put_in_order[grid](source, result, row, n, ROWS=tile, COLS=tile)
    return result
