"""Fills the lanes behind a row's end with 0 where minus infinity belongs: each adds its exponential to the sum.

mechanism: semantics/padded-with-zeros
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
    x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=0.0).to(ACC)
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + row * n + columns, e / tl.sum(e, 0), mask=columns < n)


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
