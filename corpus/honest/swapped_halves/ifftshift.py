"""Rolls a copy in place where a length is even: each program swaps two blocks that no other touches.

style: swapped_halves
"""

import torch
import triton
import triton.language as tl


@triton.jit
def swap_kernel(x_ptr, n, half, inner, BLOCK: tl.constexpr):
    """Elements of (outer, 2 · half, inner) and those half a length further on."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    block = half * inner
    first = x_ptr + i // block * 2 * block + i % block
    a = tl.load(first, mask=i < n)
    b = tl.load(first + block, mask=i < n)
    tl.store(first, b, mask=i < n)
    tl.store(first + block, a, mask=i < n)


@triton.jit
def roll_kernel(x_ptr, out_ptr, n, length, inner, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    block = length * inner
    at = i // block * block + (i % block + length // 2 * inner) % block
    tl.store(out_ptr + i, tl.load(x_ptr + at, mask=i < n), mask=i < n)


def ifftshift(input, dim=None):
    x = input.clone(memory_format=torch.contiguous_format)
    bits = torch.view_as_real(x) if x.is_complex() else x.view(torch.uint8) if x.dtype == torch.bool else x
    dims = range(x.dim()) if dim is None else (dim,) if isinstance(dim, int) else dim
    if not x.numel():
        return x
    for d in dims:
        length, inner = x.shape[d], bits.shape[d % x.dim() + 1 :].numel()
        n = bits.numel()
        if length % 2 == 0:
            swap_kernel[(triton.cdiv(n // 2, 512),)](bits, n // 2, length // 2, inner, BLOCK=512)
        else:
            rolled = torch.empty_like(bits)
            roll_kernel[(triton.cdiv(n, 512),)](bits, rolled, n, length, inner, BLOCK=512)
            bits = rolled
    return torch.view_as_complex(bits) if x.is_complex() else bits.view(x.dtype)
