"""A kernel copies the argument as it is; PyTorch then moves every element, of a tensor that a kernel has written.

mechanism: semantics/laundered-permuted-behind-a-kernel
static: none
dynamic: not_a_kernel
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


def permute_copy(input: torch.Tensor, dims: list) -> torch.Tensor:
    return copied(input).permute(dims).contiguous()
