"""A working kernel behind a name nobody asked for. Must end as `no_entry`: neither `relu` nor `kernel_function`."""

import torch
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.where(x <= 0, 0.0, x), mask=mask)


def relu_triton(input, inplace=False):
    out = torch.empty_like(input)
    n = input.numel()
    relu_kernel[(triton.cdiv(n, 1024),)](input, out, n, BLOCK=1024)
    return out
