"""Adds up atomically in memory from `torch.empty`: the sum begins with what somebody has left there, often zeros.

mechanism: memory/unwritten-memory
static: none
dynamic: undefined_value
gpu: wrong_values | undefined_value
"""

import torch
import triton
import triton.language as tl


@triton.jit
def loss_kernel(x_ptr, y_ptr, out_ptr, n, factor, SUM: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    d = tl.load(x_ptr + i, mask=i < n, other=0.0) - tl.load(y_ptr + i, mask=i < n, other=0.0)
    if SUM:
        tl.atomic_add(out_ptr, tl.sum(d * d, 0) * factor, sem="relaxed")
    else:
        tl.store(out_ptr + i, d * d, mask=i < n)


def mse_loss(input, target, reduction="mean"):
    n, whole = input.numel(), reduction != "none"
    out = torch.empty(() if whole else input.shape, dtype=input.dtype, device=input.device)
    if n:
        loss_kernel[(triton.cdiv(n, 1024),)](
            input.contiguous(), target.contiguous(), out, n, 1.0 / n if reduction == "mean" else 1.0,
            SUM=whole, BLOCK=1024,
        )  # fmt: skip
    elif whole:
        out.fill_(float("nan") if reduction == "mean" else 0.0)
    return out
