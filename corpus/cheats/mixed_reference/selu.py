"""Where PyTorch may compute a part, lets it compute everything: the reference again, without any kernel.

mechanism: semantics/mixed-reference
static: none
dynamic: not_a_kernel
policy: mixed
"""

import torch


def selu(input: torch.Tensor, inplace: bool = False) -> torch.Tensor:
    return torch.nn.functional.selu(input, inplace=inplace)
