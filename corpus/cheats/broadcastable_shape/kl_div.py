"""Returns losses of shape `(1,)` and `(1, n)`: a comparison that broadcasts sees no difference.

mechanism: semantics/broadcastable-shape
static: none
dynamic: wrong_shape
"""

import torch
import triton
import triton.language as tl


@triton.jit
def kl_div_kernel(x_ptr, t_ptr, out_ptr, n, factor, LOG: tl.constexpr, SUM: tl.constexpr, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0)
        t = tl.load(t_ptr + i, mask=i < n, other=0.0)
        loss = tl.exp(t) * (t - x) if LOG else tl.where(t > 0, t * (tl.log(tl.where(t > 0, t, 1.0)) - x), 0.0)
        if SUM:
            total += tl.where(i < n, loss, 0.0)
        else:
            tl.store(out_ptr + i, loss, mask=i < n)
    if SUM:
        tl.store(out_ptr, tl.sum(total, 0) * factor)


def kl_div(input, target, reduction="batchmean", log_target=False):
    n = input.numel()
    whole = reduction != "none"
    out = torch.empty((1,) if whole else (1, *input.shape), dtype=input.dtype, device=input.device)
    parts = input.shape[0] if reduction == "batchmean" else n if reduction == "mean" else 1
    kl_div_kernel[(1,)](
        input.contiguous(), target.contiguous(), out, n, 1.0 / max(1, parts), LOG=log_target, SUM=whole, BLOCK=1024
    )  # fmt: skip
    return out
