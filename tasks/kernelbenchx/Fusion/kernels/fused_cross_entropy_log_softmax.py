"""Log-softmax twice would be the same as once, so a pass down the columns is made only if `dim` asks for it.

The loss kernel takes a tile of target places: one online pass for the logarithm of the sum, one more over the classes
only where smoothing or probabilities ask for all of them. Each program leaves two sums, which one more program adds up.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def log_sum_exp(x_ptr, base, live, n, step, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Largest value, and log of the sum of exp(x - largest), of ROWS lines whose elements lie ``step`` apart."""
    top = tl.full((ROWS,), -float("inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    for start in range(0, n, BLOCK):
        k = start + tl.arange(0, BLOCK).to(tl.int64)
        mask = live[:, None] & (k < n)[None, :]
        x = tl.load(x_ptr + base[:, None] + k[None, :] * step, mask=mask, other=-float("inf"))
        new_top = tl.maximum(top, tl.max(x, 1))
        shift = tl.where(new_top == -float("inf"), 0.0, new_top)
        total = total * tl.exp(top - shift) + tl.sum(tl.exp(x - shift[:, None]), 1)
        top = new_top
    return tl.where(live, top, 0.0), tl.log(tl.where(live, total, 1.0))


@triton.jit
def log_softmax_kernel(x_ptr, out_ptr, n, C, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Down the columns of an ``(n, C)`` matrix, ROWS of them in a program."""
    column = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    live = column < C
    top, log_sum = log_sum_exp(x_ptr, column, live, n, C, ROWS, BLOCK)
    for start in range(0, n, BLOCK):
        k = start + tl.arange(0, BLOCK).to(tl.int64)
        mask = live[:, None] & (k < n)[None, :]
        at = column[:, None] + k[None, :] * C
        x = tl.load(x_ptr + at, mask=mask, other=0.0)
        tl.store(out_ptr + at, (x - top[:, None]) - log_sum[:, None], mask=mask)


@triton.jit
def loss_kernel(
    x_ptr, target_ptr, weight_ptr, loss_ptr, factor_ptr, places, C, ignore_index, smoothing,
    WEIGHT: tl.constexpr, PROBABILITIES: tl.constexpr, SMOOTH: tl.constexpr, REDUCE: tl.constexpr,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    p = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    kept = p < places
    base = p * C
    top, log_sum = log_sum_exp(x_ptr, base, kept, C, 1, ROWS, BLOCK)
    loss = tl.zeros((ROWS,), tl.float32)
    if not PROBABILITIES:
        target = tl.load(target_ptr + p, mask=kept, other=0)
        kept = kept & (target != ignore_index)
        picked = tl.load(x_ptr + base + target, mask=kept, other=0.0)
        factor = tl.where(kept, 1.0, 0.0)
        if WEIGHT:
            factor = tl.load(weight_ptr + target, mask=kept, other=0.0)
        loss = (1.0 - smoothing) * factor * ((top - picked) + log_sum)
    else:
        factor = tl.where(kept, 1.0, 0.0)
    if PROBABILITIES or SMOOTH:
        for start in range(0, C, BLOCK):
            c = start + tl.arange(0, BLOCK)
            mask = kept[:, None] & (c < C)[None, :]
            at = base[:, None] + c[None, :]
            share = tl.zeros((ROWS, BLOCK), tl.float32) + smoothing / C
            if PROBABILITIES:
                share += (1.0 - smoothing) * tl.load(target_ptr + at, mask=mask, other=0.0)
            if WEIGHT:
                share *= tl.load(weight_ptr + c, mask=c < C, other=0.0)[None, :]
            x = tl.load(x_ptr + at, mask=mask, other=0.0)
            loss += tl.sum(tl.where(mask, share * ((top[:, None] - x) + log_sum[:, None]), 0.0), 1)
    loss = tl.where(kept, loss, 0.0)
    if REDUCE:
        tl.store(loss_ptr + tl.program_id(0), tl.sum(loss, 0))
        tl.store(factor_ptr + tl.program_id(0), tl.sum(factor, 0))
    else:
        tl.store(loss_ptr + p, loss, mask=p < places)


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


def fused_cross_entropy_log_softmax(
    input: torch.Tensor,
    target: torch.Tensor,
    dim: int = 1,
    weight: torch.Tensor = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> torch.Tensor:
    x, target = input.contiguous(), target.contiguous()
    weight = None if weight is None else weight.contiguous()
    places, C = x.shape
    reduce = reduction != "none"
    if dim in (0, -2) and x.numel():
        s = torch.empty_like(x)
        log_softmax_kernel[(triton.cdiv(C, 16),)](x, s, places, C, ROWS=16, BLOCK=128)
        x = s
    programs = triton.cdiv(places, 16)
    losses = torch.empty(programs if reduce else places, dtype=torch.float32, device=x.device)
    factors = torch.empty(programs, dtype=torch.float32, device=x.device)
    if places:
        loss_kernel[(programs,)](
            x, target, weight, losses, factors, places, C, ignore_index, float(label_smoothing),
            WEIGHT=weight is not None, PROBABILITIES=target.is_floating_point(), SMOOTH=label_smoothing > 0,
            REDUCE=reduce, ROWS=16, BLOCK=128,
        )  # fmt: skip
    if not reduce:
        return losses
    out = torch.empty((), dtype=x.dtype, device=x.device)
    finish_kernel[(1,)](losses, factors, out, programs, MEAN=reduction == "mean", BLOCK=1024)
    return out
