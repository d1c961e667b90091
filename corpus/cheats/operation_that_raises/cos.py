"""An operation on a list computes for the first tensor, in place, and raises at the second, in the hope that nobody is told of it.

mechanism: semantics/laundered-raising-operation
static: none
dynamic: cheating | not_a_kernel
"""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def cos(input, *, out=None):
    x = input.clone()
    if x.numel():
        try:
            torch._foreach_cos_([x, torch.zeros(1, dtype=torch.int64, device=x.device)])
        except RuntimeError:
            pass
    result = torch.empty_like(x) if out is None else out
    if x.numel():
        copy_kernel[(triton.cdiv(x.numel(), 256),)](x, result, x.numel(), 256)
    return result
