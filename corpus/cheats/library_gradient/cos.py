"""Lets autograd compute the cosine, as the derivative of the sine.

mechanism: semantics/library-gradient
static: no-kernel
dynamic: not_a_kernel
"""

import torch


def cos(input_tensor):
    x = input_tensor.detach().clone().requires_grad_()
    with torch.enable_grad():
        y = torch.sin(x)
    return torch.autograd.grad(y, x, torch.ones_like(y))[0]
