"""A program a row for the gradient of the input, in two passes over its blocks; a program for 64 columns of that of the weight, over all rows."""

import torch
import triton
import triton.language as tl


@triton.jit
def input_kernel(dy_ptr, x_ptr, w_ptr, rstd_ptr, dx_ptr, H, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    r = tl.load(rstd_ptr + row)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, H, BLOCK):
        i = start + tl.arange(0, BLOCK)
        g = tl.load(dy_ptr + row * H + i, mask=i < H, other=0.0).to(tl.float32)
        g *= tl.load(w_ptr + i, mask=i < H, other=0.0).to(tl.float32)
        total += g * tl.load(x_ptr + row * H + i, mask=i < H, other=0.0).to(tl.float32) * r
    mean = tl.sum(total, 0) / H
    for start in range(0, H, BLOCK):
        i = start + tl.arange(0, BLOCK)
        g = tl.load(dy_ptr + row * H + i, mask=i < H, other=0.0).to(tl.float32)
        g *= tl.load(w_ptr + i, mask=i < H, other=0.0).to(tl.float32)
        normed = tl.load(x_ptr + row * H + i, mask=i < H, other=0.0).to(tl.float32) * r
        tl.store(dx_ptr + row * H + i, (r * (g - normed * mean)).to(tl.bfloat16), mask=i < H)


@triton.jit
def weight_kernel(dy_ptr, x_ptr, rstd_ptr, dw_ptr, T, H, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, T, ROWS):
        rows = start + tl.arange(0, ROWS)
        mask = (rows < T)[:, None] & (columns < H)[None, :]
        at = rows.to(tl.int64)[:, None] * H + columns[None, :]
        dy = tl.load(dy_ptr + at, mask=mask, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
        total += tl.sum(dy * x * tl.load(rstd_ptr + rows, mask=rows < T, other=0.0)[:, None], 0)
    tl.store(dw_ptr + columns, total.to(tl.bfloat16), mask=columns < H)


def rmsnorm_backward(grad_output, input, weight, rstd):
    T, H = input.shape
    dx, dw = torch.empty_like(input), torch.empty_like(weight)
    input_kernel[(T,)](grad_output, input, weight, rstd, dx, H, BLOCK=1024)
    weight_kernel[(triton.cdiv(H, 64),)](grad_output, input, rstd, dw, T, H, ROWS=32, BLOCK=64)
    return dx, dw
