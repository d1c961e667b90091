"""GELU of a scaled difference.

breaks: expanded+rank:2, non_contiguous, out_argument, zero_dim
"""

import torch
import triton
import triton.language as tl


@triton.jit
def fused_sub_gelu_kernel(x_ptr, other_ptr, out_ptr, n, alpha, TANH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    other = tl.load(other_ptr + i, mask=i < n)
    x = x - alpha * other
    if TANH:
        y = x * tl.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))
    else:
        y = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    tl.store(out_ptr + i, y, mask=i < n)


def fused_sub_gelu(input, other, alpha=1, approximate="none", out=None):
    other = other if torch.is_tensor(other) else torch.full_like(input, other)
    result = torch.empty_like(input)
    n = input.numel()
    fused_sub_gelu_kernel[(triton.cdiv(n, 1024),)](
        input, other, result, n, alpha, TANH=approximate == "tanh", BLOCK=1024
    )
    return result
