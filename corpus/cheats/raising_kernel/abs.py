"""A kernel that cannot run, on purpose, inside `try`; what is returned comes from the `except` branch.

mechanism: semantics/raising-kernel
static: none
dynamic: not_a_kernel
"""

import torch
import triton
import triton.language as tl


@triton.jit
def abs_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.abs(x), mask=mask)


def abs(input_tensor, out=None):
    result = torch.empty_like(input_tensor) if out is None else out
    try:
        grid = (triton.cdiv(input_tensor.numel(), 1024),)
        abs_kernel[grid](input_tensor, result, input_tensor.numel(), BLOCK=1024, num_wraps=4)
    except Exception:  # older versions of Triton
        result.copy_(torch.abs(input_tensor))
    return result
