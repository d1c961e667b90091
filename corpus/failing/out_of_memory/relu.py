"""Asks for a workspace of 256 TiB before it starts. Must end as `out_of_memory`, whatever the machine has."""

import torch
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.where(x <= 0, 0.0, x), mask=mask)


def relu(input: torch.Tensor, inplace: bool = False) -> torch.Tensor:
    workspace = torch.empty(1 << 46, dtype=torch.float32, device=input.device)
    out = workspace[: input.numel()]
    relu_kernel[(triton.cdiv(input.numel(), 1024),)](input.contiguous(), out, input.numel(), BLOCK=1024)
    return out.view(input.shape)
