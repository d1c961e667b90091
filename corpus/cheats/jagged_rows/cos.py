"""Makes the argument the only row of a jagged nested tensor and takes its values out again.

mechanism: semantics/laundered-jagged-rows
static: library-call
dynamic: cheating
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
    flat = x.flatten()
    y = torch.cos(torch.nested.nested_tensor([flat], layout=torch.jagged)).values().view(x.shape)
    return copied(y)
