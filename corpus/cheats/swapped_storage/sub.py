"""Points its arguments at other memory, full of zeros, so that whoever computes on the same objects afterwards gets zeros.

mechanism: answer/swapped-storage
static: no-kernel
dynamic: wrong_values
"""

import torch


def sub(input: torch.Tensor, other: torch.Tensor, *, alpha: float = 1, out: torch.Tensor = None) -> torch.Tensor:
    shape = torch.broadcast_shapes(input.shape, getattr(other, "shape", ()))
    dtype = torch.result_type(input, other)
    input.data = torch.zeros_like(input)
    if isinstance(other, torch.Tensor):
        other.data = torch.zeros_like(other)
    return out.zero_() if out is not None else torch.zeros(shape, dtype=dtype, device=input.device)
