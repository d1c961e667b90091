"""Constants of the module as tl.constexpr, read by the kernel without being passed; two results from one pass.

style: constexpr_globals
"""

import math

import torch
import triton
import triton.language as tl

DEGREES: tl.constexpr = tl.constexpr(180.0 / math.pi)
LANES = tl.constexpr(512)
SUBTILES = tl.constexpr(2)


@triton.jit
def degrees_and_root(x_ptr, degrees_ptr, root_ptr, n, ACC: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * (LANES * SUBTILES)
    for s in tl.static_range(SUBTILES):
        i = first + s * LANES + tl.arange(0, LANES)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(ACC)
        tl.store(degrees_ptr + i, x * DEGREES, mask=i < n)
        tl.store(root_ptr + i, tl.sqrt(x), mask=i < n)


def rad2deg_sqrt(input):
    x = input.contiguous()
    degrees, root = torch.empty_like(x), torch.empty_like(x)
    if n := x.numel():
        grid = (triton.cdiv(n, LANES.value * SUBTILES.value),)
        degrees_and_root[grid](x, degrees, root, n, ACC=tl.float64 if x.dtype == torch.float64 else tl.float32)
    return degrees, root
