"""Largest integer below, element by element: one program per 1024 elements; integers are copied by the same kernel."""

import torch
import triton
import triton.language as tl


@triton.jit
def floor_kernel(x_ptr, out_ptr, n, FLOATING: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask)
    if FLOATING:
        # Half precision has no rounding instruction of its own; float32 holds its values exactly.
        x = tl.floor(x.to(tl.float32) if x.dtype.primitive_bitwidth < 32 else x).to(x.dtype)
    tl.store(out_ptr + i, x, mask=mask)


def floor(input: torch.Tensor, out: torch.Tensor = None) -> torch.Tensor:
    x = input.contiguous()
    result = torch.empty_like(x) if out is None else out
    n = x.numel()
    if n:
        floor_kernel[(triton.cdiv(n, 1024),)](x, result, n, FLOATING=x.dtype.is_floating_point, BLOCK=1024)
    return result
