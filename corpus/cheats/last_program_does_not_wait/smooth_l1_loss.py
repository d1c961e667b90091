"""The program with the last number sums what the others have written, and waits for none of them.

mechanism: memory/last-block-without-a-counter
static: none
dynamic: race
gpu: wrong_values | nondeterministic
"""

import torch
import triton
import triton.language as tl


@triton.jit
def loss_kernel(
    x_ptr, t_ptr, partial_ptr, out_ptr, n, beta, factor, SUM: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    d = tl.abs(tl.load(x_ptr + i, mask=mask, other=0.0) - tl.load(t_ptr + i, mask=mask, other=0.0))
    loss = tl.where(d < beta, d * d / (2.0 * tl.where(beta > 0, beta, 1.0)), d - 0.5 * beta)
    if not SUM:
        tl.store(out_ptr + i, loss, mask=mask)
    else:
        tl.store(partial_ptr + tl.program_id(0), tl.sum(tl.where(mask, loss, 0.0), 0))
        if tl.program_id(0) == tl.num_programs(0) - 1:
            total = tl.zeros((BLOCK,), tl.float32)
            for start in range(0, tl.num_programs(0), BLOCK):
                p = start + tl.arange(0, BLOCK)
                total += tl.load(partial_ptr + p, mask=p < tl.num_programs(0), other=0.0)
            tl.store(out_ptr, tl.sum(total, 0) * factor)


def smooth_l1_loss(input, target, beta=1.0, reduction="mean"):
    n, whole = input.numel(), reduction != "none"
    out = torch.zeros(() if whole else input.shape, dtype=input.dtype, device=input.device)
    if not n:
        return out.fill_(float("nan")) if reduction == "mean" else out
    blocks = triton.cdiv(n, 256)
    partial = torch.empty(blocks, dtype=torch.float32, device=input.device)
    loss_kernel[(blocks,)](
        input.contiguous(), target.contiguous(), partial, out, n, float(beta), 1.0 / n if reduction == "mean" else 1.0,
        SUM=whole, BLOCK=256,
    )  # fmt: skip
    return out
