"""Log of the odds, clamped if eps is given.

breaks: non_contiguous, special_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def logit_kernel(x_ptr, out_ptr, n, eps, CLAMP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    if CLAMP:
        x = tl.minimum(tl.maximum(x, eps), 1.0 - eps)
    tl.store(out_ptr + i, tl.log(x / (1.0 - x)), mask=i < n)


def logit(input, eps=None, out=None):
    result = torch.empty_like(input) if out is None else out
    n = input.numel()
    logit_kernel[(triton.cdiv(n, 1024),)](input, result, n, eps or 0.0, CLAMP=eps is not None, BLOCK=1024)
    return result
