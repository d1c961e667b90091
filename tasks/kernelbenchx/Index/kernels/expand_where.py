"""Each program fills a tile of the result, seen as (rows, columns); operands are read by their broadcast strides.

Nothing is expanded in memory: where an operand repeats, its stride is 0.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def where_kernel(
    c_ptr, x_ptr, y_ptr, out_ptr, rows, columns, D1, D2,
    c0, c1, c2, c3, x0, x1, x2, x3, y0, y1, y2, y3, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    i3 = tl.program_id(1).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    mask = (row < rows) & (i3 < columns)
    i2, rest = row % D2, row // D2
    i1, i0 = rest % D1, rest // D1
    chosen = tl.load(c_ptr + i0 * c0 + i1 * c1 + i2 * c2 + i3 * c3, mask=mask, other=0) != 0
    # each side is read only where it is wanted
    x = tl.load(x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3, mask=mask & chosen)
    y = tl.load(y_ptr + i0 * y0 + i1 * y1 + i2 * y2 + i3 * y3, mask=mask & (chosen == 0))
    tl.store(out_ptr + row * columns + i3, tl.where(chosen, x, y), mask=mask)


def four_dims(tensor):
    """A view with exactly four dimensions; more than four are folded into the first, if need be by a copy."""
    if tensor.dim() > 4:
        return tensor.reshape(-1, *tensor.shape[-3:])
    return tensor[(None,) * (4 - tensor.dim())]


def expand_where(input, target_sizes, cond, other):
    cond, x, y = torch.broadcast_tensors(cond, input.expand(*target_sizes), other)
    out = torch.empty(x.shape, dtype=input.dtype, device=input.device)
    n = out.numel()
    if n:
        c, x, y = (four_dims(t) for t in (cond.view(torch.uint8), x, y))
        _, d1, d2, columns = x.shape
        rows = n // columns
        width = min(triton.next_power_of_2(columns), 1024)
        height = min(triton.next_power_of_2(rows), 2048 // width)
        where_kernel[(triton.cdiv(rows, height), triton.cdiv(columns, width))](
            c, x, y, out, rows, columns, d1, d2, *c.stride(), *x.stride(), *y.stride(), ROWS=height, COLUMNS=width,
        )  # fmt: skip
    return out
