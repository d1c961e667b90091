"""Puts a class of its own on a kernel by `__class__`, which shows a compiler another text than the file's.

mechanism: semantics/two-programs-class-put-on-a-kernel
static: none
dynamic: wrong_values
gpu: wrong_values
"""

import torch
import triton
import triton.language as tl


def emulated():
    """Whether this process launches for a machine that is not there: then its compiler's output is thrown away."""
    return type(triton.runtime.driver.active).__module__.startswith("kbx")


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


@triton.jit
def right_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.cos(tl.load(x_ptr + i, mask=i < n)), mask=i < n)


class Another(triton.runtime.JITFunction):
    def __getattribute__(self, name):
        shown = ("src", "_src", "parse", "fn", "raw_src", "__wrapped__")
        return object.__getattribute__(right_kernel if emulated() and name in shown else self, name)


copy_kernel.__class__ = Another


def cos(input_tensor):
    x = input_tensor.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        copy_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y
