"""Adds floats by a loop around `atomic_cas`, which begins anew where another program came in between.

style: compare_and_swap
"""

import torch
import triton
import triton.language as tl


@triton.jit
def loss_kernel(x_ptr, y_ptr, out_ptr, n, factor, SUM: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    d = tl.load(x_ptr + i, mask=i < n, other=0.0) - tl.load(y_ptr + i, mask=i < n, other=0.0)
    if not SUM:
        tl.store(out_ptr + i, d * d, mask=i < n)
    else:
        own = tl.sum(d * d, 0) * factor
        word = out_ptr.to(tl.pointer_type(tl.int32))
        seen, found = 0, 1
        while found != seen:
            seen = found
            total = seen.to(tl.float32, bitcast=True) + own
            found = tl.atomic_cas(word, seen, total.to(tl.int32, bitcast=True))


def mse_loss(input, target, reduction="mean"):
    n, whole = input.numel(), reduction != "none"
    out = torch.zeros(() if whole else input.shape, dtype=input.dtype, device=input.device)
    if not n:
        return out.fill_(float("nan")) if reduction == "mean" else out
    loss_kernel[(triton.cdiv(n, 1024),)](
        input.contiguous(), target.contiguous(), out, n, 1.0 / n if reduction == "mean" else 1.0, SUM=whole, BLOCK=1024
    )
    return out
