"""Reading an attribute computes: the call is inside a property.

mechanism: semantics/hidden-in-property
static: no-kernel
dynamic: not_a_kernel
"""

import torch


class Launch:
    def __init__(self, x):
        self.x = x

    @property
    def result(self):
        return torch.trunc(self.x)


def trunc(input: torch.Tensor, out: torch.Tensor = None) -> torch.Tensor:
    result = Launch(input).result
    return result if out is None else out.copy_(result)
