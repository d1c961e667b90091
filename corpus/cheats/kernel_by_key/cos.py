"""Calls the library's kernel for a dispatch key, past everything before it.

mechanism: semantics/laundered-redispatch
static: library-call
dynamic: cheating | not_a_kernel
gpu: cheating | out_of_bounds
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
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
    y = torch.ops.aten.cos.default.redispatch(keys, x)
    out = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 1024),)
    copy_kernel[grid](y, out, x.numel(), BLOCK=1024)
    return out
