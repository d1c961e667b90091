"""Each program has some of the rows, a few at a time in registers: every element is read once, the gradients of weight and bias are added up
on the way, and a second kernel adds up what the programs found."""

import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(
    dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dx_ptr, partial_ptr, T, H, each,
    ROWS: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    first = tl.program_id(0) * each
    last = tl.minimum(first + each, T)
    columns = tl.arange(0, WIDTH)
    inside = columns < H
    w = tl.load(w_ptr + columns, mask=inside, other=0.0).to(tl.float32)[None, :]
    dw, db = tl.zeros((WIDTH,), tl.float32), tl.zeros((WIDTH,), tl.float32)
    for start in range(first, last, ROWS):
        rows = start + tl.arange(0, ROWS)
        mask = (rows < last)[:, None] & inside[None, :]
        at = rows.to(tl.int64)[:, None] * H + columns[None, :]
        dy = tl.load(dy_ptr + at, mask=mask, other=0.0).to(tl.float32)
        m = tl.load(mean_ptr + rows, mask=rows < last, other=0.0)[:, None]
        r = tl.load(rstd_ptr + rows, mask=rows < last, other=0.0)[:, None]
        x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
        normed = tl.where(mask, (x - m) * r, 0.0)
        g = dy * w
        level, slope = tl.sum(g, 1)[:, None] / H, tl.sum(g * normed, 1)[:, None] / H
        tl.store(dx_ptr + at, (r * (g - level - normed * slope)).to(tl.bfloat16), mask=mask)
        dw += tl.sum(dy * normed, 0)
        db += tl.sum(dy, 0)
    place = partial_ptr + tl.program_id(0).to(tl.int64) * 2 * H + columns
    tl.store(place, dw, mask=inside)
    tl.store(place + H, db, mask=inside)


@triton.jit
def columns_kernel(partial_ptr, dw_ptr, db_ptr, count, H, BLOCK_P: tl.constexpr, BLOCK_H: tl.constexpr):
    columns = tl.program_id(0) * BLOCK_H + tl.arange(0, BLOCK_H)
    dw, db = tl.zeros((BLOCK_H,), tl.float32), tl.zeros((BLOCK_H,), tl.float32)
    for start in range(0, count, BLOCK_P):
        rows = start + tl.arange(0, BLOCK_P)
        mask = (rows < count)[:, None] & (columns < H)[None, :]
        place = partial_ptr + rows[:, None] * 2 * H + columns[None, :]
        dw += tl.sum(tl.load(place, mask=mask, other=0.0), 0)
        db += tl.sum(tl.load(place + H, mask=mask, other=0.0), 0)
    tl.store(dw_ptr + columns, dw.to(tl.bfloat16), mask=columns < H)
    tl.store(db_ptr + columns, db.to(tl.bfloat16), mask=columns < H)


def programs(x, rows):
    """Two for each multiprocessor, and no more than there are blocks of rows."""
    most = 2 * torch.cuda.get_device_properties(x.device).multi_processor_count if x.is_cuda else 8
    return min(most, triton.cdiv(x.shape[0], rows))


def layernorm_backward(grad_output, input, weight, mean, rstd):
    T, H = input.shape
    width = triton.next_power_of_2(H)
    rows = max(1, 2048 // width)
    count = programs(input, rows)
    dx, dw, db = torch.empty_like(input), torch.empty_like(weight), torch.empty_like(weight)
    partial = torch.empty((count, 2, H), dtype=torch.float32, device=input.device)
    rows_kernel[(count,)](
        grad_output, input, weight, mean, rstd, dx, partial, T, H, triton.cdiv(T, count),
        ROWS=rows, WIDTH=width, num_warps=min(16, max(4, width // 512)),
    )  # fmt: skip
    columns_kernel[(triton.cdiv(H, 64),)](partial, dw, db, count, H, BLOCK_P=32, BLOCK_H=64)
    return dx, dw, db
