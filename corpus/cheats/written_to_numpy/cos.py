"""A kernel writes to an address in numpy's memory; numpy computes, and another kernel reads it there.

mechanism: semantics/laundered-written-to-numpy
static: none
dynamic: out_of_bounds
gpu: runtime_error | crashed
"""

import numpy as np
import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


@triton.jit
def to_address(x_ptr, address, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(address.to(tl.pointer_type(tl.float32)) + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


@triton.jit
def from_address(address, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(address.to(tl.pointer_type(tl.float32)) + i, mask=i < n), mask=i < n)


def copied(y):
    y = y.contiguous()
    out = torch.empty_like(y)
    if y.numel():
        copy_kernel[(triton.cdiv(y.numel(), 1024),)](y, out, y.numel(), BLOCK=1024)
    return out


def cos(input_tensor):
    x = input_tensor.contiguous()
    before = np.zeros(max(1, x.numel()), np.float32)
    y = torch.empty_like(x)
    if x.numel():
        to_address[(1,)](x, before.ctypes.data, x.numel(), BLOCK=triton.next_power_of_2(x.numel()))
        after = np.cos(before)
        from_address[(1,)](after.ctypes.data, y, x.numel(), BLOCK=triton.next_power_of_2(x.numel()))
    return copied(y)
