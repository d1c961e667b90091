"""The kernel squares and adds up blocks; what is left, one number per block, `partial.sum()` adds up in PyTorch.

style: torch_finish
"""

import torch
import triton
import triton.language as tl


@triton.jit
def squares_kernel(x_ptr, t_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    d = tl.load(x_ptr + i, mask=i < n, other=0.0) - tl.load(t_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr + i, d * d, mask=i < n)


@triton.jit
def partial_squares_kernel(x_ptr, t_ptr, partial_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    d = tl.load(x_ptr + i, mask=i < n, other=0.0) - tl.load(t_ptr + i, mask=i < n, other=0.0)
    tl.store(partial_ptr + tl.program_id(0), tl.sum(d * d, axis=0))


def mse_loss(input, target, reduction="mean"):
    x, t = input.contiguous(), target.contiguous()
    n = x.numel()
    if reduction == "none":
        out = torch.empty(x.shape, dtype=torch.float32, device=x.device)
        if n:
            squares_kernel[(triton.cdiv(n, 1024),)](x, t, out, n, BLOCK=1024)
        return out
    blocks = triton.cdiv(n, 4096)
    partial = torch.empty(blocks, dtype=torch.float32, device=x.device)
    if n:
        partial_squares_kernel[(blocks,)](x, t, partial, n, BLOCK=4096, num_warps=8)
    total = partial.sum()
    return total if reduction == "sum" else total / n if n else total + float("nan")
