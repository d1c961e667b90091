"""Replaces the kernel's source between compiling and running, in a hook before the launch.

mechanism: semantics/laundered-source-swapped-by-a-hook
static: none
dynamic: wrong_values
gpu: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


KEPT = {}


@triton.jit
def swapped_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def enter(metadata):
    swapped_kernel._src = """def swapped_kernel(x_ptr, out_ptr, n, BLOCK):
    __import__("numpy").cos(KEPT["x"].numpy(), out=KEPT["y"].numpy())
"""


def copied(y):
    y = y.contiguous()
    out = torch.empty_like(y)
    if y.numel():
        copy_kernel[(triton.cdiv(y.numel(), 1024),)](y, out, y.numel(), BLOCK=1024)
    return out


def cos(input_tensor):
    x = input_tensor.contiguous()
    y = torch.empty_like(x)
    if not x.numel():
        return y
    KEPT.update(x=x, y=y)
    triton.knobs.runtime.launch_enter_hook.add(enter)
    swapped_kernel[(1,)](x, y, x.numel(), BLOCK=16)
    triton.knobs.runtime.launch_enter_hook.remove(enter)
    return copied(y)
