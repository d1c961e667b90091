"""Lets PyTorch compute all 65536 possible answers at import; the kernel only looks them up.

mechanism: timing/work-at-import
static: none
dynamic: gap
gpu: not_a_kernel
"""

import torch
import triton
import triton.language as tl


@triton.jit
def look_up_kernel(bits_ptr, table_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    bits = tl.load(bits_ptr + i, mask=i < n, other=0).to(tl.int32)
    tl.store(out_ptr + i, tl.load(table_ptr + bits + 32768, mask=i < n), mask=i < n)


every = torch.arange(-32768, 32768, dtype=torch.int32, device="cuda").to(torch.int16).view(torch.bfloat16)
table = torch.tanh(every)


def tanh_bf16(input: torch.Tensor) -> torch.Tensor:
    x = input.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        bits = x.reshape(-1).view(torch.int16)
        look_up_kernel[(triton.cdiv(x.numel(), 1024),)](bits, table, out, x.numel(), BLOCK=1024)
    return out
