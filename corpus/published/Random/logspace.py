"""Powers by exp2 in float64, from numbers of the host.

breaks: none
"""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def logspace_kernel(out_ptr, steps, limits_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    start, step, base = tl.load(limits_ptr), tl.load(limits_ptr + 1), tl.load(limits_ptr + 2)
    tl.store(out_ptr + i, tl.exp2((start + i.to(tl.float64) * step) * base), mask=i < steps)


def logspace(start, end, steps, base=10.0, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    out = torch.empty(steps, dtype=dtype or torch.float32, device=device)
    limits = [start, (end - start) / max(1, steps - 1), math.log2(base)]
    table = torch.tensor(limits, dtype=torch.float64, device=device)
    logspace_kernel[(triton.cdiv(steps, 1024),)](out, steps, table, BLOCK=1024)
    return out
