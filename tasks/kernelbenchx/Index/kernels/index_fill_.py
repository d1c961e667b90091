"""The tensor is seen as (outer, size, inner); each program writes a tile of named rows, columns beside each other.

Nothing is read but the index. Rows named twice are written twice, with the same number.
"""

import triton
import triton.language as tl


@triton.jit
def fill_kernel(x_ptr, index_ptr, value, rows, count, size, inner, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Row r = (o, i) fills ``inner`` elements of slice index[i] of part o."""
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)
    named = tl.load(index_ptr + r % count, mask=r < rows, other=0)
    at = ((r // count) * size + named)[:, None] * inner + column[None, :]
    mask = (r < rows)[:, None] & (column < inner)[None, :]
    tl.store(x_ptr + at, tl.full((ROWS, COLUMNS), value, x_ptr.dtype.element_ty), mask=mask)


def index_fill_(dim, x, index, value):
    flat, index = x.contiguous(), index.contiguous()
    dim = dim % x.dim()
    count, size, inner = index.numel(), x.shape[dim], x.shape[dim + 1 :].numel()
    rows = x.shape[:dim].numel() * count
    if rows and inner:
        width = min(triton.next_power_of_2(inner), 1024)
        height = min(triton.next_power_of_2(rows), 2048 // width)
        value = float(value) if x.dtype.is_floating_point else int(value)
        fill_kernel[(triton.cdiv(rows, height), triton.cdiv(inner, width))](
            flat, index, value, rows, count, size, inner, ROWS=height, COLUMNS=width
        )
    return x if flat is x else x.copy_(flat)
