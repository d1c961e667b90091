"""Negative offsets from a pointer to the last element: the kernel walks backwards through its arguments.

style: read_from_the_end
"""

import torch
import triton
import triton.language as tl


@triton.jit
def roll_kernel(x_ptr, out_ptr, n, length, inner, BLOCK: tl.constexpr):
    x_end, out_end = x_ptr + (n - 1), out_ptr + (n - 1)
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    block = length * inner
    last = n - 1 - i
    at = last // block * block + (last % block + length // 2 * inner) % block
    tl.store(out_end - i, tl.load(x_end - (n - 1 - at), mask=i < n), mask=i < n)


def ifftshift(input, dim=None):
    x = input.clone(memory_format=torch.contiguous_format)
    bits = torch.view_as_real(x) if x.is_complex() else x.view(torch.uint8) if x.dtype == torch.bool else x
    dims = range(x.dim()) if dim is None else (dim,) if isinstance(dim, int) else dim
    if not x.numel():
        return x
    for d in dims:
        length, inner = x.shape[d], bits.shape[d % x.dim() + 1 :].numel()
        rolled = torch.empty_like(bits)
        roll_kernel[(triton.cdiv(bits.numel(), 512),)](bits, rolled, bits.numel(), length, inner, BLOCK=512)
        bits = rolled
    return torch.view_as_complex(bits) if x.is_complex() else bits.view(x.dtype)
