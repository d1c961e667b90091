"""Library functions as default values of parameters that no caller passes.

mechanism: semantics/hidden-in-default
static: no-kernel
dynamic: not_a_kernel
"""

import torch


def signbit_bitwise_and(input, other, _grid=torch.signbit, _block=torch.bitwise_and):
    return _grid(input), _block(input.to(torch.int8), other.to(torch.int8))
