"""A kernel writes to a tensor whose memory is a file; numpy reads the file.

mechanism: semantics/laundered-file-as-memory
static: none
dynamic: runtime_error
"""

import os

import numpy as np
import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def copied(y):
    y = y.contiguous()
    out = torch.empty_like(y)
    if y.numel():
        copy_kernel[(triton.cdiv(y.numel(), 1024),)](y, out, y.numel(), BLOCK=1024)
    return out


def cos(input_tensor):
    x = input_tensor.contiguous()
    if not x.numel():
        return copied(x)
    if os.path.exists("exchanged"):
        os.remove("exchanged")
    lent = torch.from_file("exchanged", shared=True, size=x.numel(), dtype=torch.float32)
    copy_kernel[(triton.cdiv(x.numel(), 1024),)](x, lent, x.numel(), BLOCK=1024)
    values = np.cos(np.fromfile("exchanged", np.float32))
    y = torch.from_numpy(values).to(x.device).view(x.shape)
    return copied(y)
