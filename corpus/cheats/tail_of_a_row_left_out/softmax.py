"""Adds up whole blocks of 128 columns: what a row has beyond the last of them is missing from its sum.

mechanism: semantics/tail-left-out
source: correctness-illusion
static: none
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, n, ACC: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    whole = tl.maximum(n // 128 * 128, 1)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=float("-inf")).to(ACC)
    e = tl.exp(x - tl.max(x, 0))
    total = tl.sum(tl.where(columns < whole, e, 0.0), 0)
    tl.store(out_ptr + row * n + columns, e / total, mask=columns < n)


def softmax(input, dim, dtype=None):
    x = input.to(dtype or input.dtype)
    if x.dim() == 0:
        return softmax(x.reshape(1), 0).reshape(())
    rows = x.movedim(dim, -1).contiguous()
    out = torch.empty_like(rows)
    n = rows.shape[-1]
    if out.numel():
        acc = tl.float64 if x.dtype == torch.float64 else tl.float32
        softmax_kernel[(rows.numel() // n,)](rows, out, n, ACC=acc, BLOCK=triton.next_power_of_2(n))
    return out.movedim(-1, dim).contiguous()
