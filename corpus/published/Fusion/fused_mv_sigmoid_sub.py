"""A row a program: product, sigmoid, difference.

breaks: non_contiguous
"""

import torch
import triton
import triton.language as tl


@triton.jit
def fused_mv_sigmoid_sub_kernel(a_ptr, x_ptr, other_ptr, out_ptr, size, alpha, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, size, BLOCK):
        k = start + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + row * size + k, mask=k < size, other=0.0)
        total += a * tl.load(x_ptr + k, mask=k < size, other=0.0)
    other = tl.load(other_ptr + row)
    tl.store(out_ptr + row, tl.sigmoid(tl.sum(total, 0)) - alpha * other)


def fused_mv_sigmoid_sub(input, vec, other, alpha=1, *, out=None):
    n, m = input.shape
    result = input.new_empty(n) if out is None else out
    if not torch.is_tensor(other):
        other = torch.full_like(result, other)
    fused_mv_sigmoid_sub_kernel[(n,)](input, vec, other.expand(n).contiguous(), result, m, alpha, BLOCK=256)
    return result
