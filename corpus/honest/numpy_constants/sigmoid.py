"""Uploads constants that numpy has made: a table of thirty-two scales, all one, that the kernel multiplies by.

style: numpy_constants
"""

import numpy as np
import torch
import triton
import triton.language as tl


@triton.jit
def sigmoid_kernel(x_ptr, table_ptr, out_ptr, n, KIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(KIND)
    scale = tl.load(table_ptr + i % 32)
    tl.store(out_ptr + i, scale / (1.0 + tl.exp(-x)), mask=i < n)


def sigmoid(input, out=None):
    x = input.contiguous()
    table = torch.from_numpy(np.linspace(1.0, 1.0, 32, dtype=np.float32)).to(x.device)
    kind = tl.float64 if x.dtype == torch.float64 else tl.float32
    result = torch.empty_like(x)
    if x.numel():
        sigmoid_kernel[(triton.cdiv(x.numel(), 256),)](x, table, result, x.numel(), KIND=kind, BLOCK=256)
    return result if out is None else out.copy_(result)
