"""Grid and shape worked out with `math` before the launch; the kernel finds each element's source by remainders.

style: grid_arithmetic
"""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def tile_exp_kernel(
    x_ptr, out_ptr, n, D1, D2, D3, S0, S1, S2, S3, BLOCK: tl.constexpr
):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    i3, rest = i % D3, i // D3
    i2, rest = rest % D2, rest // D2
    i1, i0 = rest % D1, rest // D1
    at = (((i0 % S0) * S1 + i1 % S1) * S2 + i2 % S2) * S3 + i3 % S3
    tl.store(out_ptr + i, tl.exp(tl.load(x_ptr + at, mask=mask, other=0.0)), mask=mask)


def fused_tile_exp(input, dims, *, out=None):
    rank = max(input.dim(), len(dims))
    if rank > 4:
        raise ValueError(f"at most 4 dimensions, not {rank}")
    source = [1] * (4 - input.dim()) + list(input.shape)
    repeats = [1] * (4 - len(dims)) + list(dims)
    shape = [size * times for size, times in zip(source, repeats)]
    x = input.contiguous()
    result = torch.empty(shape[4 - rank :], dtype=x.dtype, device=x.device) if out is None else out
    n = math.prod(shape)
    if n:
        block = 2 ** min(10, max(5, math.ceil(math.log2(n))))
        tile_exp_kernel[(math.ceil(n / block), 1)](x, result, n, *shape[1:], *source, BLOCK=block)
    return result
