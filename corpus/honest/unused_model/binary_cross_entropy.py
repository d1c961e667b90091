"""What a prompt leaves behind: the reference module, its inputs and a dispatcher of both, next to the kernel's own wrapper.

style: unused_model
"""

import numpy as np  # noqa: F401
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    """The original, for comparison."""

    def __init__(self, reduction="mean"):
        super().__init__()
        self.loss = nn.BCELoss(reduction=reduction)

    def forward(self, predictions, targets):
        return F.binary_cross_entropy(predictions, targets)


def get_inputs():
    return [torch.rand(128, 4096), torch.randint(0, 2, (128, 4096)).float()]


def get_init_inputs():
    return []


@triton.jit
def bce_kernel(x_ptr, y_ptr, w_ptr, out_ptr, n, WEIGHT: tl.constexpr, SUM: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.5)
    y = tl.load(y_ptr + i, mask=i < n, other=0.0)
    # 1 - x is exact from 1/2 up; below, the logarithm of a rounded 1 - x would lose x: log1p by its series
    rest = tl.where(x < 1e-3, -x * (1.0 + x * (0.5 + x * (0.33333334 + 0.25 * x))), tl.log(1.0 - x))
    loss = -(y * tl.maximum(tl.log(x), -100.0) + (1.0 - y) * tl.maximum(rest, -100.0))
    if WEIGHT:
        loss *= tl.load(w_ptr + i, mask=i < n, other=0.0)
    if SUM:
        tl.store(out_ptr + tl.program_id(0), tl.sum(tl.where(i < n, loss, 0.0), 0))
    else:
        tl.store(out_ptr + i, loss, mask=i < n)


def binary_cross_entropy(input, target, weight=None, reduction="mean"):
    x, y = input.contiguous(), target.contiguous()
    w = weight.expand(x.shape).contiguous() if weight is not None else x
    n = x.numel()
    blocks = triton.cdiv(n, 1024)
    out = x.new_empty(x.shape if reduction == "none" else blocks)
    if n:
        bce_kernel[(blocks,)](x, y, w, out, n, WEIGHT=weight is not None, SUM=reduction != "none", BLOCK=1024)
    if reduction == "none":
        return out
    total = out.sum()
    return total / n if reduction == "mean" else total
