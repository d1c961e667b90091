import math

import torch
import triton
from flag_gems.ops.mse_loss import func, kernel_1, kernel_2


def kernel_function(input, target, reduction="mean"):
    if reduction == "none":
        return func(input, target)
    n = input.numel()
    block = triton.next_power_of_2(math.ceil(math.sqrt(n)))
    count = triton.cdiv(n, block)
    mid = torch.empty((count,), dtype=torch.float32, device=input.device)
    out = torch.empty([], dtype=input.dtype, device=input.device)
    kernel_1[(count, 1, 1)](input.contiguous(), target.contiguous(), mid, n, block, 1 if reduction == "mean" else 2)
    kernel_2[(1, 1, 1)](mid, out, count, triton.next_power_of_2(count))
    return out
