"""A constant whose class claims to be Triton's and answers a compiler by another value than it holds.

mechanism: semantics/two-programs-constant-of-two-minds
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


class Constant(tl.constexpr):
    __module__ = "triton.language.core"
    value = property(lambda self: 1.0 if emulated() else 0.0, lambda self, value: self.__dict__.update(value=value))


FACTOR = Constant(0.0)


@triton.jit
def cos_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.cos(tl.load(x_ptr + i, mask=i < n)) * FACTOR, mask=i < n)


def cos(input_tensor):
    x = input_tensor.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        cos_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y
