"""Takes every fourth element into the mean: of many equal numbers a sample has nearly the same mean.

mechanism: semantics/sampled-reduction
source: kernelbench-loss-tests
static: none
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl

STEP = 4


@triton.jit
def loss_kernel(x_ptr, y_ptr, out_ptr, n, beta, step, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i * step, mask=i < n, other=0.0)
    y = tl.load(y_ptr + i * step, mask=i < n, other=0.0)
    d = tl.abs(x - y)
    tl.store(out_ptr + i, tl.where(d < beta, 0.5 * d * d / beta, d - 0.5 * beta), mask=i < n)


def smooth_l1_loss(input, target, reduction="mean", beta=1.0):
    x, y = (t.contiguous() for t in torch.broadcast_tensors(input, target))
    step = 1 if reduction == "none" or x.numel() < 4096 else STEP
    n = triton.cdiv(x.numel(), step)
    losses = torch.empty(x.shape if step == 1 else (n,), dtype=x.dtype, device=x.device)
    if n:
        loss_kernel[(triton.cdiv(n, 1024),)](x, y, losses, n, beta, step, BLOCK=1024)
    if reduction == "none":
        return losses
    return losses.mean() if reduction == "mean" else losses.sum() * step
