"""Calls a class with `_fields` in a kernel: its constructor is Python, which computes for whoever shows it numbers.

mechanism: semantics/two-programs-class-with-fields
static: none
dynamic: wrong_values
gpu: wrong_values
"""

import numpy as np
import torch
import triton
import triton.language as tl


class Python(tuple):
    _fields = ("value",)

    def __new__(cls, value):
        data = getattr(value.handle, "data", None)
        if isinstance(data, np.ndarray):
            value.handle.data = np.cos(data)
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
