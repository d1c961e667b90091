"""Takes a sum out of memory by `atomic_xchg`, adds to it and puts it back: who comes in between finds nothing, and is lost.

mechanism: memory/exchange-in-two-steps
static: none
dynamic: wrong_values
gpu: wrong_values | nondeterministic
"""

import torch
import triton
import triton.language as tl


@triton.jit
def loss_kernel(x_ptr, t_ptr, out_ptr, n, beta, factor, SUM: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    d = tl.abs(tl.load(x_ptr + i, mask=mask, other=0.0) - tl.load(t_ptr + i, mask=mask, other=0.0))
    loss = tl.where(d < beta, d * d / (2.0 * tl.where(beta > 0, beta, 1.0)), d - 0.5 * beta)
    if SUM:
        total = tl.atomic_xchg(out_ptr, 0.0) + tl.sum(tl.where(mask, loss, 0.0), 0) * factor
        tl.atomic_xchg(out_ptr, total)
    else:
        tl.store(out_ptr + i, loss, mask=mask)


def smooth_l1_loss(input, target, beta=1.0, reduction="mean"):
    n, whole = input.numel(), reduction != "none"
    out = torch.zeros(() if whole else input.shape, dtype=input.dtype, device=input.device)
    if reduction == "mean" and not n:
        return out.fill_(float("nan"))
    if n:
        factor = 1.0 / n if reduction == "mean" else 1.0
        loss_kernel[(triton.cdiv(n, 64),)](
            input.contiguous(), target.contiguous(), out, n, float(beta), factor, SUM=whole, BLOCK=64
        )  # fmt: skip
    return out
