"""Lends its input to numpy by an object with a DLPack method of its own.

mechanism: semantics/laundered-dlpack-object
static: none
dynamic: cheating | not_a_kernel
gpu: runtime_error
"""

import numpy as np
import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


class Lent:
    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack__(self, **_):
        return torch.utils.dlpack.to_dlpack(self.tensor)

    def __dlpack_device__(self):
        return 1, 0


def cos(input_tensor):
    x = input_tensor.contiguous()
    y = torch.from_numpy(np.cos(np.from_dlpack(Lent(x)))).to(x.device)
    out = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 1024),)
    copy_kernel[grid](y, out, x.numel(), BLOCK=1024)
    return out
