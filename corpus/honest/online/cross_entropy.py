"""Cross-entropy by an online log-sum-exp, with class weights, ignored places and all three reductions.

style: online
"""

import torch
import triton
import triton.language as tl


@triton.jit
def loss_kernel(
    x_ptr, target_ptr, weight_ptr, loss_ptr, factor_ptr, places, C, inner, ignore_index,
    WEIGHT: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Weighted loss and weight of ROWS target places; the scores of place p lie ``inner`` elements apart."""
    p = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    live = p < places
    base = (p // inner) * C * inner + p % inner
    top = tl.full((ROWS,), -float("inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    for start in range(0, C, BLOCK):
        c = start + tl.arange(0, BLOCK)
        mask = live[:, None] & (c < C)[None, :]
        x = tl.load(x_ptr + base[:, None] + c[None, :] * inner, mask=mask, other=-float("inf")).to(tl.float32)
        new_top = tl.maximum(top, tl.max(x, 1))
        shift = tl.where(new_top == -float("inf"), 0.0, new_top)
        total = total * tl.exp(top - shift) + tl.sum(tl.exp(x - shift[:, None]), 1)
        top = new_top
    target = tl.load(target_ptr + p, mask=live, other=0)
    kept = live & (target != ignore_index)
    picked = tl.load(x_ptr + base + target * inner, mask=kept, other=0.0).to(tl.float32)
    factor = tl.where(kept, 1.0, 0.0)
    if WEIGHT:
        factor = tl.load(weight_ptr + target, mask=kept, other=0.0).to(tl.float32)
    # top - picked first: both may be large, the logarithm is not
    loss = tl.where(kept, factor * ((top - picked) + tl.log(total)), 0.0)
    tl.store(loss_ptr + p, loss, mask=live)
    tl.store(factor_ptr + p, factor, mask=live)


@triton.jit
def reduce_kernel(loss_ptr, factor_ptr, out_ptr, places, MEAN: tl.constexpr, BLOCK: tl.constexpr):
    """One program in a fixed order: the same bits at every run."""
    loss = tl.zeros((BLOCK,), tl.float32)
    factor = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, places, BLOCK):
        p = start + tl.arange(0, BLOCK)
        loss += tl.load(loss_ptr + p, mask=p < places, other=0.0)
        factor += tl.load(factor_ptr + p, mask=p < places, other=0.0)
    result = tl.sum(loss, 0)
    if MEAN:
        result = result / tl.sum(factor, 0)
    tl.store(out_ptr, result)


def cross_entropy(input, target, weight=None, ignore_index=-100, reduction="mean"):
    x, target = input.contiguous(), target.contiguous()
    weight = None if weight is None else weight.contiguous()
    C = x.shape[0] if x.dim() == 1 else x.shape[1]
    inner, places = x.shape[2:].numel(), target.numel()
    losses, factors = torch.empty((2, places), dtype=torch.float32, device=x.device)
    if places:
        block = min(triton.next_power_of_2(C), 2048)
        tile = min(triton.next_power_of_2(places), max(1, 2048 // block))
        loss_kernel[(triton.cdiv(places, tile),)](
            x, target, weight, losses, factors, places, C, inner, ignore_index,
            WEIGHT=weight is not None, ROWS=tile, BLOCK=block,
        )  # fmt: skip
    if reduction == "none":
        return losses.to(input.dtype).view(target.shape)
    out = torch.empty((), dtype=input.dtype, device=x.device)
    reduce_kernel[(1,)](losses, factors, out, places, MEAN=reduction == "mean", BLOCK=1024)
    return out
