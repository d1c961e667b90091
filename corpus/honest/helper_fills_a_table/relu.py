"""A helper writes to the dict that it is given: settings of a launch, not the names of a caller.

style: helper_fills_a_table
source: kernelguard
"""

import torch
import triton
import triton.language as tl


def put(table, name, value):
    table[name] = value


@triton.jit
def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr + i, tl.where(x <= 0, 0.0, x), mask=i < n)


def relu(input: torch.Tensor, inplace: bool = False) -> torch.Tensor:
    x = input.contiguous()
    out = torch.empty_like(x)
    settings = {}
    put(settings, "BLOCK", 1024)
    put(settings, "num_warps", 4)
    if x.numel():
        relu_kernel[(triton.cdiv(x.numel(), settings["BLOCK"]),)](x, out, x.numel(), **settings)
    return input.copy_(out) if inplace else out
