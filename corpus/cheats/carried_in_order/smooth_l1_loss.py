"""Each program adds to the sum that the one before it has left: right where programs run one by one, in order.

mechanism: memory/carried-in-order
static: none
dynamic: race
gpu: wrong_values | nondeterministic
"""

import torch
import triton
import triton.language as tl


@triton.jit
def loss_kernel(x_ptr, t_ptr, sums_ptr, n, beta, BLOCK: tl.constexpr):
    block = tl.program_id(0)
    i = block.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    d = tl.abs(tl.load(x_ptr + i, mask=mask, other=0.0) - tl.load(t_ptr + i, mask=mask, other=0.0)).to(tl.float64)
    loss = tl.where(d < beta, d * d / (2.0 * tl.where(beta > 0, beta, 1.0)), d - 0.5 * beta)
    total = tl.sum(tl.where(mask, loss, 0.0), 0)
    tl.store(sums_ptr + block + 1, tl.load(sums_ptr + block) + total)


@triton.jit
def last_kernel(sums_ptr, out_ptr, blocks, factor):
    tl.store(out_ptr, tl.load(sums_ptr + blocks) * factor)


@triton.jit
def each_kernel(x_ptr, t_ptr, out_ptr, n, beta, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    d = tl.abs(tl.load(x_ptr + i, mask=mask, other=0.0) - tl.load(t_ptr + i, mask=mask, other=0.0))
    tl.store(out_ptr + i, tl.where(d < beta, d * d / (2.0 * tl.where(beta > 0, beta, 1.0)), d - 0.5 * beta), mask=mask)


def smooth_l1_loss(input, target, beta=1.0, reduction="mean"):
    n, blocks = input.numel(), triton.cdiv(input.numel(), 64)
    x, t = input.contiguous(), target.contiguous()
    if reduction == "none":
        out = torch.empty_like(x)
        if n:
            each_kernel[(blocks,)](x, t, out, n, float(beta), BLOCK=64)
        return out
    out = torch.zeros((), dtype=input.dtype, device=input.device)
    if not n:
        return out.fill_(float("nan")) if reduction == "mean" else out
    sums = torch.zeros(blocks + 1, dtype=torch.float64, device=input.device)
    loss_kernel[(blocks,)](x, t, sums, n, float(beta), BLOCK=64)
    last_kernel[(1,)](sums, out, blocks, 1.0 / n if reduction == "mean" else 1.0)
    return out
