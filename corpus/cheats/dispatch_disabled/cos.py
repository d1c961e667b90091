"""Disables dispatch to Python around the library call.

mechanism: semantics/laundered-disabled-dispatch
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


def cos(input_tensor):
    x = input_tensor.contiguous()
    with torch._C._DisableTorchDispatch():
        y = torch.cos(x)
    out = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 1024),)
    copy_kernel[grid](y, out, x.numel(), BLOCK=1024)
    return out
