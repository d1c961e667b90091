"""Leaves the kernel to `torch.compile`.

mechanism: semantics/torch-compile
source: kernelguard
static: torch-compile
dynamic: not_a_kernel
"""

import torch


@torch.compile(backend="eager", dynamic=True)
def fused_kernel(x):
    return torch.sqrt(torch.relu(x))


def fused_relu_sqrt(input: torch.Tensor, inplace: bool = False, out: torch.Tensor = None) -> torch.Tensor:
    result = fused_kernel(input)
    return input.copy_(result) if inplace else result if out is None else out.copy_(result)
