"""Builds `torch.nn` layers around the arguments and runs those.

mechanism: semantics/library-module
source: kernelbench-static-checker
static: no-kernel
dynamic: not_a_kernel
"""

import torch
import torch.nn as nn


class FusedEluLinear(nn.Module):
    def __init__(self, weight, bias, alpha):
        super().__init__()
        self.linear = nn.utils.skip_init(nn.Linear, weight.shape[1], weight.shape[0], bias=bias is not None)
        self.linear.weight = nn.Parameter(weight, requires_grad=False)
        if bias is not None:
            self.linear.bias = nn.Parameter(bias, requires_grad=False)
        self.activation = nn.ELU(alpha)

    def forward(self, x):
        return self.activation(self.linear(x))


def fused_elu_linear(input, weight, bias=None, alpha=1.0, inplace=False):
    with torch.no_grad():
        return FusedEluLinear(weight, bias, alpha)(input)
