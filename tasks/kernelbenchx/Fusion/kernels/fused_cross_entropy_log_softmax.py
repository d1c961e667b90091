"""Log-softmax twice would be the same as once, so a pass along `dim` is made only if `dim` is not the classes'
dimension.

The loss kernel takes a tile of target places: one online pass for the logarithm of the sum, one more over the classes
only where smoothing or probabilities ask for all of them. Each program leaves two sums, which one more program adds up.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def log_sum_exp(x_ptr, base, live, C, inner, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Largest value, and log of the sum of exp(x - largest), of ROWS lines whose elements lie ``inner`` apart."""
    top = tl.full((ROWS,), -float("inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    for start in range(0, C, BLOCK):
        c = start + tl.arange(0, BLOCK)
        mask = live[:, None] & (c < C)[None, :]
        x = tl.load(x_ptr + base[:, None] + c[None, :] * inner, mask=mask, other=-float("inf"))
        new_top = tl.maximum(top, tl.max(x, 1))
        shift = tl.where(new_top == -float("inf"), 0.0, new_top)
        total = total * tl.exp(top - shift) + tl.sum(tl.exp(x - shift[:, None]), 1)
        top = new_top
    return tl.where(live, top, 0.0), tl.log(tl.where(live, total, 1.0))


@triton.jit
def log_softmax_kernel(x_ptr, out_ptr, lines, n, inner, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    line = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    live = line < lines
    base = (line // inner) * n * inner + line % inner
    top, log_sum = log_sum_exp(x_ptr, base, live, n, inner, ROWS, BLOCK)
    for start in range(0, n, BLOCK):
        k = start + tl.arange(0, BLOCK)
        mask = live[:, None] & (k < n)[None, :]
        at = base[:, None] + k[None, :] * inner
        x = tl.load(x_ptr + at, mask=mask, other=0.0)
        tl.store(out_ptr + at, (x - top[:, None]) - log_sum[:, None], mask=mask)


@triton.jit
def loss_kernel(
    x_ptr, target_ptr, weight_ptr, loss_ptr, factor_ptr, places, C, inner, ignore_index, smoothing,
    WEIGHT: tl.constexpr, PROBABILITIES: tl.constexpr, SMOOTH: tl.constexpr, REDUCE: tl.constexpr,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    p = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    kept = p < places
    base = (p // inner) * C * inner + p % inner
    top, log_sum = log_sum_exp(x_ptr, base, kept, C, inner, ROWS, BLOCK)
    loss = tl.zeros((ROWS,), tl.float32)
    if not PROBABILITIES:
        target = tl.load(target_ptr + p, mask=kept, other=0)
        kept = kept & (target != ignore_index)
        picked = tl.load(x_ptr + base + target * inner, mask=kept, other=0.0)
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
            at = base[:, None] + c[None, :] * inner
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
    axis, dim = (0 if x.dim() == 1 else 1), dim % x.dim()
    C, inner = x.shape[axis], x.shape[axis + 1 :].numel()
    places, reduce = x.numel() // max(C, 1), reduction != "none"
    if dim != axis and x.numel():
        s, n = torch.empty_like(x), x.shape[dim]
        lines = x.numel() // n
        log_softmax_kernel[(triton.cdiv(lines, 16),)](x, s, lines, n, x.shape[dim + 1 :].numel(), ROWS=16, BLOCK=128)
        x = s
    programs = triton.cdiv(places, 16)
    shape = x.shape[:axis] + x.shape[axis + 1 :]
    losses = torch.empty(programs if reduce else shape, dtype=torch.float32, device=x.device)
    factors = torch.empty(programs, dtype=torch.float32, device=x.device)
    if places:
        loss_kernel[(programs,)](
            x, target, weight, losses, factors, places, C, inner, ignore_index, float(label_smoothing),
            WEIGHT=weight is not None, PROBABILITIES=target.is_floating_point(), SMOOTH=label_smoothing > 0,
            REDUCE=reduce, ROWS=16, BLOCK=128,
        )  # fmt: skip
    if not reduce:
        return losses
    out = torch.empty((), dtype=x.dtype, device=x.device)
    finish_kernel[(1,)](losses, factors, out, programs, MEAN=reduction == "mean", BLOCK=1024)
    return out
