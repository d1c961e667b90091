"""Returns 2, which is what the loss of two standard normal tensors comes to, from a kernel that reads nothing.

mechanism: semantics/constant-answer
source: kernelbench-loss-tests
static: constant-result
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def mse_kernel(out_ptr, value, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.full((BLOCK,), 1.0, tl.float32) * value, mask=i < n)


def mse_loss(input, target, reduction="mean"):
    out = torch.empty(input.shape if reduction == "none" else (), dtype=input.dtype, device=input.device)
    if out.numel():
        value = 2.0 * input.numel() if reduction == "sum" else 2.0
        mse_kernel[(triton.cdiv(out.numel(), 1024),)](out, value, out.numel(), BLOCK=1024)
    return out
