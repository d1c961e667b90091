"""Product less a scaled term.

breaks: broadcast, non_contiguous, out_argument
"""

import torch
import triton
import triton.language as tl


@triton.jit
def fused_mul_sub_kernel(x_ptr, other_mul_ptr, other_sub_ptr, out_ptr, n, alpha, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    other_mul = tl.load(other_mul_ptr + i, mask=i < n)
    other_sub = tl.load(other_sub_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x * other_mul - alpha * other_sub, mask=i < n)


def fused_mul_sub(input, other_mul, other_sub, alpha=1, out=None):
    other_mul = other_mul if torch.is_tensor(other_mul) else torch.full_like(input, other_mul)
    other_sub = other_sub if torch.is_tensor(other_sub) else torch.full_like(input, other_sub)
    result = torch.empty_like(input)
    n = input.numel()
    fused_mul_sub_kernel[(triton.cdiv(n, 1024),)](input, other_mul, other_sub, result, n, alpha, BLOCK=1024)
    return result
