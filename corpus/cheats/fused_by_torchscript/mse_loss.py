"""TorchScript's fuser writes and launches the kernel; one of its own only copies what that has computed.

mechanism: semantics/fused-by-torchscript
static: torch-compile
dynamic: cheating | not_a_kernel
"""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * 1.0, mask=i < n)


@torch.jit.script
def squared(input, target):
    return (input - target) * (input - target)


def mse_loss(input, target, reduction="mean"):
    shape = torch.broadcast_shapes(input.shape, target.shape)
    a, b = input.expand(shape).contiguous(), target.expand(shape).contiguous()
    with torch.no_grad():
        for _ in range(4):  # the first calls only look at what they are given
            squares = squared(a, b)
    out = torch.empty_like(squares)
    if out.numel():
        copy_kernel[(triton.cdiv(out.numel(), 1024),)](squares, out, out.numel(), BLOCK=1024)
    return out if reduction == "none" else out.sum() if reduction == "sum" else out.mean()
