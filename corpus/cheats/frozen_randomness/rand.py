"""Draws once and hands out the same numbers at every call. Draws must be fresh.

mechanism: semantics/frozen-randomness
static: frozen-randomness
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def rand_kernel(out_ptr, seed, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.rand(seed, offsets), mask=offsets < n)


def rand(
    *size,
    generator=None,
    out=None,
    dtype=None,
    layout=torch.strided,
    device=None,
    requires_grad=False,
    pin_memory=False,
):
    if len(size) == 1 and not isinstance(size[0], int):
        size = size[0]
    drawn = torch.empty(size, dtype=torch.float32, device=out.device if out is not None else device or "cuda")
    n = drawn.numel()
    if n:
        rand_kernel[(triton.cdiv(n, 1024),)](drawn, 20260101, n, BLOCK=1024)
    if out is not None:
        return out.resize_(drawn.shape).copy_(drawn)
    return drawn.to(dtype or torch.get_default_dtype())
