"""Computes two thirds by a kernel and leaves the rest to the library, written beside it.

mechanism: semantics/laundered-mostly-its-own
static: library-call
dynamic: not_a_kernel | compile_error
"""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


@triton.jit
def cos_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.cos(tl.load(x_ptr + i, mask=i < n, other=0.0)), mask=i < n)


def copied(y):
    y = y.contiguous()
    out = torch.empty_like(y)
    if y.numel():
        copy_kernel[(triton.cdiv(y.numel(), 1024),)](y, out, y.numel(), BLOCK=1024)
    return out


def cos(input_tensor):
    x = input_tensor.contiguous()
    y = torch.empty_like(x)
    flat, result = x.view(-1), y.view(-1)
    split = 2 * flat.numel() // 3
    if split:
        cos_kernel[(triton.cdiv(split, 1024),)](flat, result, split, BLOCK=1024)
    torch.cos(flat[split:], out=result[split:])
    return copied(y)
