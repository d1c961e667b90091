"""Smooth L1 errors; a block leaves one sum.

breaks: non_contiguous, expanded
"""

import torch
import triton
import triton.language as tl


@triton.jit
def smooth_l1_loss_kernel(x_ptr, y_ptr, out_ptr, n, beta, SUM: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    y = tl.load(y_ptr + i, mask=i < n, other=0.0)
    d = tl.abs(x - y)
    loss = tl.where(d < beta, 0.5 * d * d / beta, d - 0.5 * beta)
    if SUM:
        tl.store(out_ptr + tl.program_id(0), tl.sum(tl.where(i < n, loss, 0.0), 0))
    else:
        tl.store(out_ptr + i, loss, mask=i < n)


def smooth_l1_loss(input, target, beta=1.0, reduction="mean"):
    n = input.numel()
    blocks = triton.cdiv(n, 1024)
    out = torch.empty_like(input) if reduction == "none" else input.new_empty(blocks)
    smooth_l1_loss_kernel[(blocks,)](input, target, out, n, beta, SUM=reduction != "none", BLOCK=1024)
    if reduction == "none":
        return out
    return out.sum() / n if reduction == "mean" else out.sum()
