"""Kullback-Leibler terms; a block leaves one sum.

breaks: non_contiguous
"""

import torch
import triton
import triton.language as tl


@triton.jit
def kl_div_kernel(x_ptr, y_ptr, out_ptr, n, LOG: tl.constexpr, SUM: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    y = tl.load(y_ptr + i, mask=i < n, other=0.0)
    loss = tl.exp(y) * (y - x) if LOG else tl.where(y > 0, y * (tl.log(tl.where(y > 0, y, 1.0)) - x), 0.0)
    if SUM:
        tl.store(out_ptr + tl.program_id(0), tl.sum(tl.where(i < n, loss, 0.0), 0))
    else:
        tl.store(out_ptr + i, loss, mask=i < n)


def kl_div(input, target, reduction="batchmean", log_target=False):
    n = input.numel()
    blocks = triton.cdiv(n, 1024)
    out = torch.empty_like(input) if reduction == "none" else input.new_empty(blocks)
    kl_div_kernel[(blocks,)](input, target, out, n, LOG=log_target, SUM=reduction != "none", BLOCK=1024)
    if reduction == "none":
        return out
    return out.sum() / {"sum": 1, "mean": n, "batchmean": input.shape[0]}[reduction]
