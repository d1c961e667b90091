"""Reads memory in order whatever the strides say: right for contiguous inputs only.

mechanism: semantics/contiguous-only
static: none
dynamic: wrong_values
breaks: non_contiguous
"""

import torch
import triton
import triton.language as tl


@triton.jit
def cos_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + offsets, tl.cos(x), mask=mask)


def cos(input_tensor):
    out = torch.empty(input_tensor.shape, dtype=input_tensor.dtype, device=input_tensor.device)
    n = out.numel()
    if n:
        cos_kernel[(triton.cdiv(n, 1024),)](input_tensor, out, n, BLOCK=1024)
    return out
