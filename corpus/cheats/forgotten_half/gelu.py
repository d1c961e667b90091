"""Forgets the factor one half of the formula: every result is twice as large.

mechanism: semantics/forgotten-factor
source: correctness-illusion
static: none
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x_ptr, out_ptr, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    if TANH:
        y = 2.0 * x * tl.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))
    else:
        y = x * (1.0 + tl.erf(x * 0.7071067811865476))
    tl.store(out_ptr + i, y, mask=i < n)


def gelu(input, approximate="none"):
    x = input.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        gelu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), TANH=approximate == "tanh", BLOCK=1024)
    return out
