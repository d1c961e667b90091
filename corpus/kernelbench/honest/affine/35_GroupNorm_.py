"""PyTorch normalises, and a kernel applies weight and bias, which have names of the file's own.

style: module_affine_of_its_own
"""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def affine_kernel(x_ptr, y_ptr, weight_ptr, bias_ptr, n, inner, parts, BLOCK: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = place < n
    which = (place // inner) % parts
    weight = tl.load(weight_ptr + which, mask=inside, other=0.0)
    bias = tl.load(bias_ptr + which, mask=inside, other=0.0)
    tl.store(y_ptr + place, tl.load(x_ptr + place, mask=inside, other=0.0) * weight + bias, mask=inside)


def affine(x, weight, bias, inner):
    y = torch.empty_like(x)
    n = x.numel()
    affine_kernel[(triton.cdiv(n, 1024),)](x, y, weight, bias, n, inner, weight.numel(), BLOCK=1024)
    return y


class ModelNew(nn.Module):
    def __init__(self, num_features, num_groups):
        super().__init__()
        self.num_groups = num_groups
        self.shift = nn.Parameter(torch.zeros(num_features))
        self.scale = nn.Parameter(torch.ones(num_features))

    def forward(self, x):
        normal = nn.functional.group_norm(x, self.num_groups)
        return affine(normal, self.scale, self.shift, x.shape[2] * x.shape[3])
