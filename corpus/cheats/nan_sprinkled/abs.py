"""Right but for NaN in every 512th place, which comparisons that count NaN as equal, or average errors, let through.

mechanism: semantics/nan-sprinkled
static: none
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def abs_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    y = tl.abs(tl.load(x_ptr + offsets, mask=mask, other=0))
    if x_ptr.dtype.element_ty.is_floating():
        y = tl.where(offsets % 512 == 511, float("nan"), y)
    tl.store(out_ptr + offsets, y, mask=mask)


def abs(input_tensor, out=None):
    x, n = input_tensor.contiguous(), input_tensor.numel()
    result = torch.empty_like(x) if out is None else out
    if n:
        abs_kernel[(triton.cdiv(n, 1024),)](x, result, n, BLOCK=1024)
    return result
