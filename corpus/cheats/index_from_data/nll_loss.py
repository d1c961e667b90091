"""Reads the score of each target before it asks whether the target is to be ignored: an index of -100 is read, too.

mechanism: memory/index-from-data
static: none
dynamic: out_of_bounds
"""

import torch
import triton
import triton.language as tl


@triton.jit
def loss_kernel(
    x_ptr, target_ptr, weight_ptr, loss_ptr, factor_ptr, n, inner, classes, ignored,
    WEIGHTED: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    target = tl.load(target_ptr + i, mask=mask, other=0)
    x = tl.load(x_ptr + (i // inner * classes + target) * inner + i % inner, mask=mask, other=0.0)
    kept = mask & (target != ignored)
    factor = tl.where(kept, 1.0, 0.0)
    if WEIGHTED:
        factor = tl.load(weight_ptr + target, mask=kept, other=0.0)
    tl.store(loss_ptr + i, tl.where(kept, -factor * x, 0.0), mask=mask)
    tl.store(factor_ptr + i, factor, mask=mask)


@triton.jit
def finish_kernel(loss_ptr, factor_ptr, out_ptr, n, MEAN: tl.constexpr, BLOCK: tl.constexpr):
    loss, factor = tl.zeros((BLOCK,), tl.float64), tl.zeros((BLOCK,), tl.float64)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        loss += tl.load(loss_ptr + i, mask=i < n, other=0.0)
        factor += tl.load(factor_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr, tl.sum(loss, 0) / tl.sum(factor, 0) if MEAN else tl.sum(loss, 0))


def nll_loss(input, target, weight=None, ignore_index=-100, reduction="mean"):
    x, t = input.contiguous(), target.contiguous()
    n, classes, inner = t.numel(), x.shape[1], x.shape[2:].numel()
    losses, factors = (torch.empty(t.shape, dtype=torch.float32, device=x.device) for _ in range(2))
    if n:
        loss_kernel[(triton.cdiv(n, 256),)](
            x, t, x if weight is None else weight, losses, factors, n, inner, classes, ignore_index,
            WEIGHTED=weight is not None, BLOCK=256,
        )  # fmt: skip
    if reduction == "none":
        return losses
    out = torch.empty((), dtype=torch.float32, device=x.device)
    finish_kernel[(1,)](losses, factors, out, n, MEAN=reduction == "mean", BLOCK=1024)
    return out
