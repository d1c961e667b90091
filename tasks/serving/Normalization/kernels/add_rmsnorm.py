"""One program has a row, or several narrow ones, in registers: each element is read once and each result written once."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_rmsnorm_kernel(
    x_ptr, residual_ptr, weight_ptr, y_ptr, h_ptr, T, D, eps, ROWS: tl.constexpr, WIDTH: tl.constexpr
):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, WIDTH)
    inside = columns < D
    at = rows[:, None].to(tl.int64) * D + columns[None, :]
    mask = (rows < T)[:, None] & inside[None, :]
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    h = x + tl.load(residual_ptr + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(h_ptr + at, h.to(h_ptr.dtype.element_ty), mask=mask)
    root = tl.rsqrt(tl.sum(h * h, 1) / D + eps)
    weight = tl.load(weight_ptr + columns, mask=inside, other=0.0).to(tl.float32)
    y = h * root[:, None] * weight[None, :]
    tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty), mask=mask)


def add_rmsnorm(x, residual, weight, eps: float = 1e-6):
    T, D = x.shape
    y, h = torch.empty_like(x), torch.empty_like(x)
    width = triton.next_power_of_2(D)
    rows = max(1, 1024 // width)
    warps = min(16, max(4, width // 512))
    add_rmsnorm_kernel[(triton.cdiv(T, rows),)](
        x, residual, weight, y, h, T, D, eps, ROWS=rows, WIDTH=width, num_warps=warps
    )
    return y, h
