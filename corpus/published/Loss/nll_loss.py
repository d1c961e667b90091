"""Weighted picks by class, places of all trailing dimensions; the mean is that of the weights.

breaks: option:reduction, non_contiguous
"""

import triton
import triton.language as tl


@triton.jit
def nll_kernel(
    x_ptr, target_ptr, weight_ptr, sums_ptr, n, classes, inner, ignored, WEIGHT: tl.constexpr, BLOCK: tl.constexpr
):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    target = tl.load(target_ptr + i, mask=i < n, other=0)
    used = (i < n) & (target != ignored)
    x = tl.load(x_ptr + ((i // inner) * classes + target) * inner + i % inner, mask=used, other=0.0)
    weight = tl.load(weight_ptr + target, mask=used, other=0.0) if WEIGHT else used.to(tl.float32)
    tl.store(sums_ptr + tl.program_id(0), tl.sum(-weight * x, 0))
    tl.store(sums_ptr + tl.num_programs(0) + tl.program_id(0), tl.sum(weight, 0))


def nll_loss(input, target, weight=None, ignore_index=-100, reduction="mean"):
    n, classes = target.numel(), input.shape[1]
    sums = input.new_empty(2, triton.cdiv(n, 1024))
    inner = input.shape[2:].numel()
    grid = (sums.shape[1],)
    nll_kernel[grid](
        input, target, weight, sums, n, classes, inner, ignore_index, WEIGHT=weight is not None, BLOCK=1024
    )
    losses, weights = sums.sum(1)
    return losses / weights
