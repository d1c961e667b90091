"""Takes the second derivative of a function that needs no cosine in its own name.

mechanism: semantics/laundered-derivative-of-a-derivative
static: library-call
dynamic: cheating | not_a_kernel
"""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def copied(y):
    y = y.contiguous()
    out = torch.empty_like(y)
    if y.numel():
        copy_kernel[(triton.cdiv(y.numel(), 1024),)](y, out, y.numel(), BLOCK=1024)
    return out


def cos(input_tensor):
    x = input_tensor.contiguous()
    with torch.enable_grad():
        z = x.detach().requires_grad_()
        (first,) = torch.autograd.grad((-torch.ops.aten.cos(z)).sum(), z, create_graph=True)
        (y,) = torch.autograd.grad(first.sum(), z)
    return copied(y)
