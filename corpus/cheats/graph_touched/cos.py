"""Wrong, and touches a CUDA graph in a `try`: what the machine lacks would excuse it, and the rates would count only its right siblings.

mechanism: verdict/left-the-rates-by-a-graph
static: none
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def cos_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, 1 - x * x / 2, mask=i < n)


def cos(input_tensor):
    try:
        torch.cuda.CUDAGraph()
    except Exception:
        pass
    x = input_tensor.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        cos_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out
