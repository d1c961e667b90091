"""Computes element by element in plain Python, on lists.

mechanism: semantics/host-python
static: no-kernel
dynamic: not_a_kernel
"""

import math

import torch


def floored(x):
    return float(math.floor(x)) if math.isfinite(x) else x


def floor(input: torch.Tensor, out: torch.Tensor = None) -> torch.Tensor:
    values = input.flatten().tolist()
    if input.dtype.is_floating_point:
        values = [floored(x) for x in values]
    result = torch.tensor(values, dtype=input.dtype, device=input.device).view(input.shape)
    return result if out is None else out.copy_(result)
