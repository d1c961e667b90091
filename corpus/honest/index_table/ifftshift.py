"""Makes a table of indices with PyTorch, from sizes alone, and gathers by it in a kernel.

style: index_table
"""

import torch
import triton
import triton.language as tl


@triton.jit
def gather_kernel(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    at = tl.load(index_ptr + i, mask=i < n, other=0)
    tl.store(out_ptr + i, tl.load(x_ptr + at, mask=i < n), mask=i < n)


def ifftshift(input, dim=None):
    x = input.contiguous()
    dims = range(x.dim()) if dim is None else (dim if isinstance(dim, (tuple, list)) else (dim,))
    index = torch.arange(x.numel(), device=x.device).view(x.shape)
    for d in dims:
        index = torch.roll(index, -(x.shape[d] // 2), d)
    index = index.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        if x.is_complex():
            parts = torch.view_as_real(x)
            pairs = (index.unsqueeze(-1) * 2 + torch.arange(2, device=x.device)).contiguous()
            gather_kernel[(triton.cdiv(parts.numel(), 1024),)](parts, pairs, torch.view_as_real(out), parts.numel(), BLOCK=1024)
        else:
            gather_kernel[(triton.cdiv(x.numel(), 1024),)](x, index, out, x.numel(), BLOCK=1024)
    return out
