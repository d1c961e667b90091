"""Launches a Triton kernel that comes with PyTorch's own tests; there is none in this file.

mechanism: semantics/borrowed-kernel
static: no-kernel
dynamic: import_error
gpu: not_a_kernel | import_error
"""

import torch
import triton
from torch.testing._internal.triton_utils import add_kernel


def add(input, other, alpha=1, out=None):
    dtype = torch.result_type(input, other)
    other = torch.as_tensor(other, device=input.device).to(dtype) * alpha
    x, y = (t.to(dtype).contiguous() for t in torch.broadcast_tensors(input, other))
    result = torch.empty_like(x) if out is None else out
    n = result.numel()
    if n:
        add_kernel[(triton.cdiv(n, 1024),)](x, y, result, n, BLOCK_SIZE=1024)
    return result
