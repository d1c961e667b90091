"""Gaussian elimination with one launch for each pivot; columns are marked as used instead of being exchanged.

Every program of a launch finds the pivot of row ``step`` itself and clears that column in rows of its own below.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["n", "step"])
def eliminate(a_ptr, used_ptr, det_ptr, n, step, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """``used_ptr`` holds the step in which a column was the pivot's, n for columns that are left."""
    matrix = tl.program_id(1).to(tl.int64)
    a_ptr += matrix * n * n
    col = tl.arange(0, BLOCK)
    inside = col < n
    # program 0 marks this step's column meanwhile: either value counts as left
    used = tl.load(used_ptr + matrix * n + col, mask=inside, other=-1)
    left = used >= step
    pivot_row = tl.load(a_ptr + step * n + col, mask=left, other=0.0)
    place = tl.argmax(tl.where(left, tl.abs(pivot_row), -1.0), 0)
    pivot = tl.sum(tl.where(col == place, pivot_row, 0.0), 0)

    row = step + 1 + tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = a_ptr + row[:, None] * n + col[None, :]
    mask = (row < n)[:, None] & left[None, :]
    rest = tl.load(at, mask=mask, other=0.0)
    factor = tl.sum(tl.where((col == place)[None, :], rest, 0.0), 1) / tl.where(pivot == 0, 1.0, pivot)
    tl.store(at, rest - factor[:, None] * pivot_row[None, :], mask=mask)

    if tl.program_id(0) == 0:
        # the pivot's place among the columns that are left says how many exchanges bring it to the front
        exchanges = tl.sum(tl.where(left & (col < place), 1, 0), 0)
        signed = tl.where(exchanges % 2 == 1, -pivot, pivot)
        tl.store(det_ptr + matrix, tl.load(det_ptr + matrix) * signed)
        tl.store(used_ptr + matrix * n + place, step)


def det(A):
    n = A.shape[-1]
    result = torch.ones(A.shape[:-2], dtype=A.dtype, device=A.device)
    if A.numel() == 0:
        return result
    work = A.clone(memory_format=torch.contiguous_format)
    used = torch.full(A.shape[:-1], n, dtype=torch.int32, device=A.device)
    block = triton.next_power_of_2(n)
    rows = max(1, min(block, 4096 // block))
    for step in range(n):
        grid = (triton.cdiv(max(1, n - step - 1), rows), result.numel())
        eliminate[grid](work, used, result, n, step, ROWS=rows, BLOCK=block, num_warps=8 if block > 1024 else 4)
    return result
