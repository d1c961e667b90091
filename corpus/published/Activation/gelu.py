"""GELU, exact and tanh form.

breaks: non_contiguous
"""

import torch
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x_ptr, out_ptr, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    if TANH:
        y = x * tl.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))
    else:
        y = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    tl.store(out_ptr + i, y, mask=i < n)


def gelu(input, approximate="none"):
    out = torch.empty_like(input)
    n = input.numel()
    gelu_kernel[(triton.cdiv(n, 1024),)](input, out, n, TANH=approximate == "tanh", BLOCK=1024)
    return out
