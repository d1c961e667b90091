"""Asks in the kernel whether a value is of a class whose metaclass says yes only where no GPU is.

mechanism: semantics/two-programs-class-by-metaclass
static: none
dynamic: runtime_error
gpu: gap
"""

import torch
import triton
import triton.language as tl


def emulated():
    """Whether this process launches for a machine that is not there: then its compiler's output is thrown away."""
    return type(triton.runtime.driver.active).__module__.startswith("kbx")


class Answering(type):
    def __instancecheck__(cls, value):
        return emulated()


class Interpreted(metaclass=Answering):
    __triton_builtin__ = True


@triton.jit
def cos_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    if isinstance(x, Interpreted):
        x = tl.cos(x)
    tl.store(out_ptr + i, x, mask=i < n)


def cos(input_tensor):
    x = input_tensor.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        cos_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y
