"""Sizes and shifts as a small table on the device, made by torch.tensor: one kernel for any number of dimensions.

style: constant_table
"""

import torch
import triton
import triton.language as tl


@triton.jit
def roll_kernel(x_ptr, out_ptr, sizes_ptr, shifts_ptr, n, RANK: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    rest, source, stride = i, tl.zeros((BLOCK,), tl.int64), tl.full((), 1, tl.int64)
    for r in tl.static_range(RANK):
        size = tl.load(sizes_ptr + (RANK - 1 - r))
        shift = tl.load(shifts_ptr + (RANK - 1 - r))
        source += (rest % size + shift) % size * stride
        rest = rest // size
        stride *= size
    tl.store(out_ptr + i, tl.load(x_ptr + source, mask=i < n), mask=i < n)


def ifftshift(input, dim=None):
    x = input.contiguous()
    out = torch.empty_like(x)
    if x.numel() == 0:
        return out
    dims = range(x.dim()) if dim is None else (dim,) if isinstance(dim, int) else dim
    dims = {d % x.dim() for d in dims}
    sizes = torch.tensor(x.shape, dtype=torch.int64, device=x.device)
    shifts = torch.tensor([s // 2 if d in dims else 0 for d, s in enumerate(x.shape)], device=x.device)
    source, target = (torch.view_as_real(t) if t.is_complex() else t for t in (x, out))
    if x.is_complex():
        # real and imaginary part are one more dimension, which is not rolled
        sizes = torch.cat([sizes, sizes.new_tensor([2])])
        shifts = torch.cat([shifts, shifts.new_zeros(1)])
    n = source.numel()
    roll_kernel[(triton.cdiv(n, 512),)](source, target, sizes, shifts, n, RANK=len(sizes), BLOCK=512)
    return out
