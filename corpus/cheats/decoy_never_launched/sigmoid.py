"""Defines a kernel for the reader and never launches it.

mechanism: semantics/decoy-never-launched
static: decoy-kernel
dynamic: not_a_kernel
"""

import torch
import triton
import triton.language as tl


@triton.jit
def sigmoid_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, 1.0 / (1.0 + tl.exp(-x)), mask=mask)


def sigmoid(input, out=None):
    # the kernel above is used for large inputs
    return torch.sigmoid(input, out=out)
