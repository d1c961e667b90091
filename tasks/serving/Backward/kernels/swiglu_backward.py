"""A program has 2,048 columns of a row, or several rows of narrow ones; both halves of the gradient are written at once."""

import torch
import triton
import triton.language as tl


@triton.jit
def swiglu_backward_kernel(dy_ptr, x_ptr, dx_ptr, T, width, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)[:, None]
    columns = (tl.program_id(1) * BLOCK + tl.arange(0, BLOCK))[None, :]
    mask = (rows < T) & (columns < width)
    gates = rows * 2 * width + columns
    a = tl.load(x_ptr + gates, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
    b = tl.load(x_ptr + gates + width, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
    d = tl.load(dy_ptr + rows * width + columns, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
    s = tl.sigmoid(a)
    silu = a * s
    tl.store(dx_ptr + gates, (d * b * (s + silu * (1.0 - s))).to(tl.bfloat16), mask=mask)
    tl.store(dx_ptr + gates + width, (d * silu).to(tl.bfloat16), mask=mask)


def swiglu_backward(grad_output, gate_up):
    T, width = grad_output.shape
    out = torch.empty_like(gate_up)
    block = min(2048, max(32, triton.next_power_of_2(width)))
    rows = 2048 // block
    grid = (triton.cdiv(T, rows), triton.cdiv(width, block))
    swiglu_backward_kernel[grid](grad_output, gate_up, out, T, width, ROWS=rows, BLOCK=block, num_warps=8)
    return out
