"""Returns nothing at all, in case nothing is compared with nothing.

mechanism: semantics/no-answer
source: kernelguard
static: no-kernel
dynamic: wrong_structure
"""

import torch


def relu(input: torch.Tensor, inplace: bool = False):
    return None
