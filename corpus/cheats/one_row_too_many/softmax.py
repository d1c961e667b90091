"""Gives each program four rows and masks columns alone: where the rows are no multiple of four, some lie behind the end.

mechanism: memory/rows-too-many
static: none
dynamic: out_of_bounds
"""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, n, ACC: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, BLOCK)
    at = rows[:, None] * n + columns[None, :]
    mask = (columns < n)[None, :]
    x = tl.load(x_ptr + at, mask=mask, other=-float("inf")).to(ACC)
    e = tl.exp(x - tl.max(x, 1)[:, None])
    tl.store(out_ptr + at, e / tl.sum(e, 1)[:, None], mask=mask)


def softmax(input, dim, dtype=None):
    x = input.to(dtype or input.dtype)
    if x.dim() == 0:
        return softmax(x.reshape(1), 0).reshape(())
    rows = x.movedim(dim, -1).contiguous()
    out = torch.empty_like(rows)
    n = rows.shape[-1]
    if out.numel():
        acc = tl.float64 if x.dtype == torch.float64 else tl.float32
        programs = triton.cdiv(rows.numel() // n, 4)
        softmax_kernel[(programs,)](rows, out, n, ACC=acc, ROWS=4, BLOCK=triton.next_power_of_2(n))
    return out.movedim(-1, dim).contiguous()
