"""Pads its rows with -inf to a multiple of the block, computes in a kernel without a mask, and narrows the result.

style: padded_and_narrowed
"""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def row_kernel(x_ptr, out_ptr, width, KIND: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = row * width + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at).to(KIND)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + at, e / tl.sum(e, axis=0))


def softmax(input: torch.Tensor, dim: int, dtype: torch.dtype = None) -> torch.Tensor:
    wanted = dtype or input.dtype
    if input.dim() == 0:
        return softmax(input.reshape(1), 0, dtype).reshape(())
    rows = input.to(wanted).movedim(dim, -1)
    if rows.numel() == 0:
        return torch.empty_like(rows).movedim(-1, dim)
    width = rows.shape[-1]
    block = triton.next_power_of_2(width)
    padded = F.pad(rows.contiguous(), (0, block - width), value=float("-inf"))
    out = torch.empty_like(padded)
    kind = tl.float64 if wanted == torch.float64 else tl.float32
    row_kernel[(padded.numel() // block,)](padded, out, block, KIND=kind, BLOCK=block)
    return out.narrow(-1, 0, width).contiguous().movedim(-1, dim).contiguous()
