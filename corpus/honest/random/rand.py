"""Uniform random numbers from Philox: a fresh seed from the caller's generator at every call, counters for elements.

style: random
"""

import torch
import triton
import triton.language as tl


@triton.jit
def rand_kernel(out_ptr, seed, n, LEVELS: tl.constexpr, DOUBLE: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if DOUBLE:
        a, b, _, _ = tl.randint4x(seed, offsets)
        high = (a.to(tl.uint32, bitcast=True) >> 5).to(tl.float64)
        low = (b.to(tl.uint32, bitcast=True) >> 6).to(tl.float64)
        u = (high * 67108864.0 + low) * (1.0 / 9007199254740992.0)
    else:
        # as many levels as the dtype has in [0.5, 1): rounding to it must never reach 1
        u = tl.floor(tl.rand(seed, offsets) * LEVELS) * (1.0 / LEVELS)
    tl.store(out_ptr + offsets, u, mask=offsets < n)


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
        size = tuple(size[0])
    if out is not None:
        target = out.resize_(size)
        drawn = target if out.is_contiguous() else torch.empty(size, dtype=out.dtype, device=out.device)
    else:
        drawn = target = torch.empty(size, dtype=dtype or torch.get_default_dtype(), device=device or "cuda")
    n = drawn.numel()
    if n:
        where = generator.device if generator is not None else "cpu"
        seed = int(torch.randint(1 << 31, (1,), generator=generator, device=where).item())
        levels = 2.0 ** {torch.float16: 11, torch.bfloat16: 8}.get(drawn.dtype, 24)
        grid = (triton.cdiv(n, 1024),)
        rand_kernel[grid](drawn, seed, n, LEVELS=levels, DOUBLE=drawn.dtype == torch.float64, BLOCK=1024)
    if drawn is not target:
        target.copy_(drawn)
    return target.requires_grad_(requires_grad)
