"""Wants a table of every float32 there is: 256 GiB of workspace to look one value up.

mechanism: semantics/huge-workspace
static: none
dynamic: out_of_memory
"""

import torch
import triton
import triton.language as tl


@triton.jit
def lookup_kernel(x_ptr, table_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    bits = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.uint32, bitcast=True).to(tl.int64)
    tl.store(out_ptr + i, tl.load(table_ptr + bits * 16, mask=i < n), mask=i < n)


def digamma(input_tensor):
    x = input_tensor.contiguous()
    table = torch.zeros((1 << 32, 16), dtype=torch.float32, device=x.device)
    out = torch.empty_like(x)
    if x.numel():
        lookup_kernel[(triton.cdiv(x.numel(), 1024),)](x, table, out, x.numel(), BLOCK=1024)
    return out
