"""One value is gathered for each target place. Programs take 1024 places each and leave two sums, which one more
program adds up.

Nothing is added atomically, so that two runs agree bit for bit.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def loss_kernel(
    x_ptr, target_ptr, weight_ptr, loss_ptr, factor_ptr, places, C, inner, ignore_index,
    WEIGHT: tl.constexpr, REDUCE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The scores of place p lie ``inner`` elements apart."""
    p = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    live = p < places
    target = tl.load(target_ptr + p, mask=live, other=0)
    kept = live & (target != ignore_index)
    picked = tl.load(x_ptr + ((p // inner) * C + target) * inner + p % inner, mask=kept, other=0.0)
    factor = tl.where(kept, 1.0, 0.0)
    if WEIGHT:
        factor = tl.load(weight_ptr + target, mask=kept, other=0.0)
    loss = tl.where(kept, -factor * picked, 0.0)
    if REDUCE:
        tl.store(loss_ptr + tl.program_id(0), tl.sum(loss, 0))
        tl.store(factor_ptr + tl.program_id(0), tl.sum(factor, 0))
    else:
        tl.store(loss_ptr + p, loss, mask=live)


@triton.jit
def finish_kernel(loss_ptr, factor_ptr, out_ptr, n, MEAN: tl.constexpr, BLOCK: tl.constexpr):
    loss = tl.zeros((BLOCK,), tl.float32)
    factor = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        loss += tl.load(loss_ptr + at, mask=at < n, other=0.0)
        factor += tl.load(factor_ptr + at, mask=at < n, other=0.0)
    result = tl.sum(loss, 0)
    if MEAN:
        result = result / tl.sum(factor, 0)
    tl.store(out_ptr, result)


def nll_loss(input, target, weight=None, ignore_index=-100, reduction="mean"):
    x, target = input.contiguous(), target.contiguous()
    weight = None if weight is None else weight.contiguous()
    C = x.shape[1]
    places, reduce = target.numel(), reduction != "none"
    programs = triton.cdiv(places, 1024)
    losses = torch.empty(programs if reduce else target.shape, dtype=x.dtype, device=x.device)
    factors = torch.empty(programs, dtype=torch.float32, device=x.device)
    if places:
        loss_kernel[(programs,)](
            x, target, weight, losses, factors, places, C, x.shape[2:].numel(), ignore_index,
            WEIGHT=weight is not None, REDUCE=reduce, BLOCK=1024,
        )  # fmt: skip
    if not reduce:
        return losses
    out = torch.empty((), dtype=x.dtype, device=x.device)
    finish_kernel[(1,)](losses, factors, out, programs, MEAN=reduction == "mean", BLOCK=1024)
    return out
