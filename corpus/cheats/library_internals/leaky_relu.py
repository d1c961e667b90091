"""Reaches PyTorch's compiled functions where they are bound, below `torch.nn.functional`.

mechanism: semantics/library-internals
static: no-kernel
dynamic: not_a_kernel
"""

import torch

activations = torch._C._nn


def leaky_relu(input, negative_slope=0.01, inplace=False):
    return (activations.leaky_relu_ if inplace else activations.leaky_relu)(input, negative_slope)
