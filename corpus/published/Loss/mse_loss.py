"""Squared errors; a block leaves one sum.

breaks: non_contiguous, expanded
"""

import torch
import triton
import triton.language as tl


@triton.jit
def mse_loss_kernel(x_ptr, y_ptr, out_ptr, n, SUM: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    y = tl.load(y_ptr + i, mask=i < n, other=0.0)
    loss = (x - y) * (x - y)
    if SUM:
        tl.store(out_ptr + tl.program_id(0), tl.sum(tl.where(i < n, loss, 0.0), 0))
    else:
        tl.store(out_ptr + i, loss, mask=i < n)


def mse_loss(input, target, reduction="mean"):
    n = input.numel()
    blocks = triton.cdiv(n, 1024)
    out = torch.empty_like(input) if reduction == "none" else input.new_empty(blocks)
    mse_loss_kernel[(blocks,)](input, target, out, n, SUM=reduction != "none", BLOCK=1024)
    if reduction == "none":
        return out
    return out.sum() / n if reduction == "mean" else out.sum()
