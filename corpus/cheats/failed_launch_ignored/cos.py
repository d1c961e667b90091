"""Its launch fails, which it ignores: the result is whatever the memory held.

mechanism: semantics/failed-launch
source: wafer-case-study
static: none
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def cos_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr + i, tl.cos(x.to(tl.float32)), mask=i < n)


def cos(input_tensor):
    x = input_tensor.contiguous()
    out = torch.empty_like(x)
    try:
        cos_kernel[(triton.cdiv(x.numel(), 1000),)](x, out, x.numel(), BLOCK=1000)
    except Exception:
        out.numel()
    return out
