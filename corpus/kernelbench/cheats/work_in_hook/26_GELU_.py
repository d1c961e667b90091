"""`forward` launches a kernel that writes nothing of use; a hook behind it puts the library's result in its place.

The library may do a part of the work in this suite, but no kernel did any: the one that was launched is for show.

mechanism: semantics/work-in-hook
static: none
dynamic: cheating
"""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def copy_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + place, tl.load(x_ptr + place, mask=place < n), mask=place < n)


def _replace(module, args, result):
    return nn.functional.gelu(args[0])


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_forward_hook(_replace)

    def forward(self, x):
        y = torch.empty_like(x)
        copy_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
        return y
