"""Returns zeros, hoping for a tolerance that is wider than small results.

mechanism: semantics/zero-answer
static: no-kernel
dynamic: wrong_values
"""

import torch


def fused_add_gelu(input, other, alpha=1, approximate="none", out=None):
    shape = torch.broadcast_shapes(input.shape, getattr(other, "shape", ()))
    return torch.zeros(shape, dtype=input.dtype, device=input.device) if out is None else out.zero_()
