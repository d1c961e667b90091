"""Two kernels behind one name: a conditional expression picks the one for the dtype, integers reuse the bits of floats.

style: kernel_by_dtype
"""

import torch
import triton
import triton.language as tl

BITS = {8: torch.int64, 4: torch.int32, 2: torch.int16, 1: torch.int8}


@triton.jit
def negative_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.store(out_ptr + i, (x < 0).to(tl.int8), mask=i < n)


@triton.jit
def never_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Unsigned numbers have no sign bit."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.zeros((BLOCK,), tl.int8), mask=i < n)


def signbit(input, out=None):
    x = input.contiguous()
    result = out if out is not None else torch.empty(x.shape, dtype=torch.bool, device=x.device)
    signed = x.dtype.is_floating_point or x.dtype.is_signed
    run = negative_kernel if signed else never_kernel
    if x.numel():
        # the sign of a float is the sign of the integer in the same bytes
        bits = x.view(BITS[x.element_size()]) if signed else x
        run[(triton.cdiv(x.numel(), 512),)](bits, result.view(torch.int8), x.numel(), BLOCK=512)
    return result
