"""Tensor methods do the product; a kernel adds up the few numbers that remain.

mechanism: semantics/library-method
static: library-call
dynamic: not_a_kernel
"""

import torch
import triton
import triton.language as tl


@triton.jit
def dot_kernel(y_ptr, x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(y_ptr + i, mask=i < n, other=0.0) * tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr, tl.sum(total, 0))


def matrix_vector_dot(A, x, y, alpha: float, beta: float):
    y.mul_(beta).add_(A.mv(x), alpha=alpha)
    out = torch.empty((), dtype=A.dtype, device=A.device)
    dot_kernel[(1,)](y.contiguous(), x.contiguous(), out, x.numel(), BLOCK=256)
    return out
