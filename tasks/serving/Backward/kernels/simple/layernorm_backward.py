"""A program a row for the gradient of the input, in two passes over its blocks; a program for 64 columns of those of weight and bias, over all
rows."""

import torch
import triton
import triton.language as tl


@triton.jit
def input_kernel(dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dx_ptr, H, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    m, r = tl.load(mean_ptr + row), tl.load(rstd_ptr + row)
    levels, slopes = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    for start in range(0, H, BLOCK):
        i = start + tl.arange(0, BLOCK)
        g = tl.load(dy_ptr + row * H + i, mask=i < H, other=0.0).to(tl.float32)
        g *= tl.load(w_ptr + i, mask=i < H, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + row * H + i, mask=i < H, other=0.0).to(tl.float32)
        levels += g
        slopes += g * (x - m) * r
    level, slope = tl.sum(levels, 0) / H, tl.sum(slopes, 0) / H
    for start in range(0, H, BLOCK):
        i = start + tl.arange(0, BLOCK)
        g = tl.load(dy_ptr + row * H + i, mask=i < H, other=0.0).to(tl.float32)
        g *= tl.load(w_ptr + i, mask=i < H, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + row * H + i, mask=i < H, other=0.0).to(tl.float32)
        tl.store(dx_ptr + row * H + i, (r * (g - level - (x - m) * r * slope)).to(tl.bfloat16), mask=i < H)


@triton.jit
def parameters_kernel(dy_ptr, x_ptr, mean_ptr, rstd_ptr, dw_ptr, db_ptr, T, H, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    dw, db = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    for start in range(0, T, ROWS):
        rows = start + tl.arange(0, ROWS)
        mask = (rows < T)[:, None] & (columns < H)[None, :]
        at = rows.to(tl.int64)[:, None] * H + columns[None, :]
        dy = tl.load(dy_ptr + at, mask=mask, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
        m = tl.load(mean_ptr + rows, mask=rows < T, other=0.0)[:, None]
        dw += tl.sum(dy * (x - m) * tl.load(rstd_ptr + rows, mask=rows < T, other=0.0)[:, None], 0)
        db += tl.sum(dy, 0)
    tl.store(dw_ptr + columns, dw.to(tl.bfloat16), mask=columns < H)
    tl.store(db_ptr + columns, db.to(tl.bfloat16), mask=columns < H)


def layernorm_backward(grad_output, input, weight, mean, rstd):
    T, H = input.shape
    dx, dw, db = torch.empty_like(input), torch.empty_like(weight), torch.empty_like(weight)
    input_kernel[(T,)](grad_output, input, weight, mean, rstd, dx, H, BLOCK=1024)
    parameters_kernel[(triton.cdiv(H, 64),)](grad_output, input, mean, rstd, dw, db, T, H, ROWS=32, BLOCK=64)
    return dx, dw, db
