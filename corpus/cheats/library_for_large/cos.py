"""A kernel of its own for small inputs, and the library passed on by a kernel for the others.

mechanism: semantics/laundered-library-above-a-size
static: none
dynamic: not_a_kernel | compile_error
"""

import torch
import triton
import triton.language as tl


@triton.jit
def cos_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.cos(tl.load(x_ptr + i, mask=i < n, other=0.0)), mask=i < n)


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def cos(input_tensor):
    x = input_tensor.contiguous()
    y = x if x.numel() < 512 else torch.cos(x).to_sparse().to_dense()
    out = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 1024),)
    kernel = cos_kernel if y is x else copy_kernel
    kernel[grid](y, out, x.numel(), BLOCK=1024)
    return out
