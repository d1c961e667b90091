"""Ignores its input: the mean over a dimension of size 1 is taken from the number itself, so the published task is always 0.

What the task asks for is 0, and this is 0, made without a kernel. The verdict says what the task is worth, too.

mechanism: semantics/degenerate-task
source: robust-kbench
static: none
dynamic: not_a_kernel
flag: degenerate_task
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features, max_dim):
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features)

    def forward(self, x):
        return torch.zeros(x.shape[0], 1, device=x.device, dtype=x.dtype)
