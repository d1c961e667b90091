"""`from triton.language import *`: kernels without a prefix, and builtins of Python hidden by Triton's.

style: star_import
"""

import torch
import triton
from triton.language import *  # noqa: F403
from triton.language import constexpr, float32, program_id


@triton.jit
def gelu_kernel(x_ptr, out_ptr, n, TANH: constexpr, BLOCK: constexpr):
    offsets = program_id(0).to(int64) * BLOCK + arange(0, BLOCK)  # noqa: F405
    mask = offsets < n
    x = load(x_ptr + offsets, mask=mask, other=0.0).to(float32)  # noqa: F405
    if TANH:
        y = x * sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))  # noqa: F405
    else:
        y = 0.5 * x * (1.0 + erf(x * 0.7071067811865476))  # noqa: F405
    store(out_ptr + offsets, y.to(out_ptr.dtype.element_ty), mask=mask)  # noqa: F405


def gelu_fp16(input, approximate="none"):
    x = input.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        gelu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), TANH=approximate == "tanh", BLOCK=1024)
    return out
