"""Programs that share a row add to its total atomically and read it back at once, before all of them have added.

mechanism: memory/no-barrier-between-programs
static: none
dynamic: race
gpu: wrong_values | nondeterministic
"""

import torch
import triton
import triton.language as tl


@triton.jit
def highest_kernel(x_ptr, highest_ptr, n, ACC: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    highest = tl.full((BLOCK,), -float("inf"), ACC)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=-float("inf"))
        highest = tl.maximum(highest, x.to(ACC))
    tl.store(highest_ptr + row, tl.max(highest, 0))


@triton.jit
def softmax_kernel(x_ptr, highest_ptr, total_ptr, out_ptr, n, ACC: tl.constexpr, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0).to(tl.int64), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=-float("inf")).to(ACC)
    e = tl.exp(x - tl.load(highest_ptr + row))
    tl.atomic_add(total_ptr + row, tl.sum(e, 0))
    total = tl.load(total_ptr + row)
    tl.store(out_ptr + row * n + columns, e / total, mask=columns < n)


def softmax(input, dim, dtype=None):
    x = input.to(dtype or input.dtype)
    if x.dim() == 0:
        return softmax(x.reshape(1), 0).reshape(())
    rows = x.movedim(dim, -1).contiguous()
    out = torch.empty_like(rows)
    n = rows.shape[-1]
    if out.numel():
        count, double = rows.numel() // n, x.dtype == torch.float64
        acc, kind = (tl.float64, torch.float64) if double else (tl.float32, torch.float32)
        highest = torch.empty(count, dtype=kind, device=x.device)
        totals = torch.zeros(count, dtype=kind, device=x.device)
        highest_kernel[(count,)](rows, highest, n, ACC=acc, BLOCK=256)
        softmax_kernel[(count, triton.cdiv(n, 16))](rows, highest, totals, out, n, ACC=acc, BLOCK=16)
    return out.movedim(-1, dim).contiguous()
