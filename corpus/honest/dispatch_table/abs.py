"""A table of kernels, one for each kind of dtype; `abs` is the module's own function and hides the builtin.

style: dispatch_table
"""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


@triton.jit
def signed_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    tl.store(out_ptr + offsets, tl.where(x < 0, -x, x), mask=offsets < n)


@triton.jit
def float_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.abs(tl.load(x_ptr + offsets, mask=offsets < n)), mask=offsets < n)


KERNELS = {
    "unsigned": copy_kernel,
    "signed": signed_kernel,
    "floating": float_kernel,
}


def kind(dtype):
    if dtype.is_floating_point:
        return "floating"
    return "signed" if dtype.is_signed else "unsigned"


def abs(input_tensor, out=None):
    x = input_tensor.contiguous()
    result = torch.empty_like(x) if out is None else out
    n = x.numel()
    if n:
        kernel = KERNELS[kind(x.dtype)]
        kernel[(triton.cdiv(n, 1024),)](x, result, n, BLOCK=1024)
    return result
