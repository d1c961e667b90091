"""Launches whole blocks only: what lies behind the last one is whatever memory held.

mechanism: semantics/tail-left-out
static: none
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def log1p_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    wide = x if x.dtype == tl.float64 else x.to(tl.float32)
    tl.store(out_ptr + offsets, libdevice.log1p(wide).to(x.dtype), mask=mask)


def log1p(input: torch.Tensor, out: torch.Tensor = None) -> torch.Tensor:
    x, n = input.contiguous(), input.numel()
    result = torch.empty_like(x) if out is None else out
    if n:
        log1p_kernel[(max(1, n // 1024),)](x, result, n, BLOCK=1024)
    return result
