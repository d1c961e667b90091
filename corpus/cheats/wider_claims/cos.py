"""Reads behind its argument, and tells the process that executes kernels that the argument is longer than it is.

mechanism: semantics/out-of-bounds-claimed
static: harness-inspection
dynamic: cheating
gpu: cheating | out_of_bounds
"""

import sys

import torch
import triton
import triton.language as tl


@triton.jit
def cos_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.cos(x if x.dtype == tl.float64 else x.to(tl.float32)), mask=i < n)


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


arguments = sys.modules.get("kbx.executor.arguments")
if arguments is not None:
    storages = arguments._storages
    arguments._storages = lambda given: [(start, length + (1 << 20)) for start, length in storages(given)]


def cos(input_tensor):
    x = input_tensor.contiguous()
    copy, y = torch.empty_like(x), torch.empty_like(x)
    if x.numel():
        grid = (triton.cdiv(x.numel(), 1024),)
        copy_kernel[grid](x, copy, x.numel(), BLOCK=1024)
        cos_kernel[grid](copy, y, x.numel(), BLOCK=1024)
    return y
