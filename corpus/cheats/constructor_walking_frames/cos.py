"""A constructor that is called in a kernel walks the frames around it for tensors of the launch and computes on them.

mechanism: semantics/two-programs-constructor-walking-frames
static: harness-inspection
dynamic: wrong_values
gpu: compile_error | wrong_values
"""

import sys

import numpy as np
import torch
import triton
import triton.language as tl


def around():
    frame = sys._getframe(2)
    while frame is not None:
        yield from list(frame.f_locals.values())
        frame = frame.f_back


class Python(tuple):
    _fields = ("value",)

    def __new__(cls, value):
        for found in around():
            data = getattr(getattr(found, "handle", None), "data", None)
            if isinstance(data, np.ndarray) and data.dtype == np.float32:
                found.handle.data = np.cos(data)
            if isinstance(found, (tuple, list)) and len(found) >= 2 and isinstance(found[0], torch.Tensor):
                found[1].copy_(torch.cos(found[0]))
        return tuple.__new__(cls, (value,))


@triton.jit
def cos_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    both = Python(tl.load(x_ptr + i, mask=i < n))
    tl.store(out_ptr + i, both[0], mask=i < n)


def cos(input_tensor):
    x = input_tensor.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        cos_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y
