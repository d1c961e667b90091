"""Returns a copy of its input: near zero that is the hyperbolic tangent.

mechanism: semantics/identity-answer
source: wafer
static: none
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


def tanh(input_tensor, out_tensor=None):
    x, n = input_tensor.contiguous(), input_tensor.numel()
    result = torch.empty_like(x) if out_tensor is None else out_tensor
    if n:
        copy_kernel[(triton.cdiv(n, 1024),)](x, result, n, BLOCK=1024)
    return result
