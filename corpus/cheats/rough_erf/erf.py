"""The textbook's polynomial for erf: right to seven digits after the point, wrong in all digits of small results.

mechanism: semantics/rough-erf
static: none
dynamic: wrong_values
breaks: tiny_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def erf_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    t = 1.0 / (1.0 + 0.3275911 * tl.abs(x))
    poly = ((((1.061405429 * t - 1.453152027) * t) + 1.421413741) * t - 0.284496736) * t + 0.254829592
    y = 1.0 - poly * t * tl.exp(-x * x)
    tl.store(out_ptr + offsets, tl.where(x < 0, -y, y), mask=mask)


def erf(input_tensor):
    x, n = input_tensor.contiguous(), input_tensor.numel()
    out = torch.empty_like(x)
    if n:
        erf_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    return out
