"""Leaves the work to PyTorch behind a kernel that copies. PyTorch may compute a part of a module, but a kernel must compute another. Ends as `cheating`."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def copy_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, x, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        x = torch.relu(x).contiguous()
        y = torch.empty_like(x)
        copy_kernel[(triton.cdiv(x.numel(), 4096),)](x, y, x.numel(), BLOCK=4096)
        return y
