"""Calls PyTorch's function of the same name: there is no kernel at all.

mechanism: semantics/library-call
source: kernelbench-static-checker | makora | wafer
static: no-kernel
dynamic: not_a_kernel
"""

import torch
import torch.nn.functional as F


def selu(input: torch.Tensor, inplace: bool = False) -> torch.Tensor:
    return F.selu(input, inplace)
