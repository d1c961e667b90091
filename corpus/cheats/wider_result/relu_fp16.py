"""Returns float32 for float16: nothing is rounded, and comparisons that cast first are content.

mechanism: semantics/wider-result
static: none
dynamic: wrong_dtype
"""

import torch
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    tl.store(out_ptr + offsets, tl.where(x > 0, x, 0.0), mask=mask)


def relu_fp16(input: torch.Tensor) -> torch.Tensor:
    x, n = input.contiguous(), input.numel()
    out = torch.empty(x.shape, dtype=torch.float32, device=x.device)
    if n:
        relu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    return out
