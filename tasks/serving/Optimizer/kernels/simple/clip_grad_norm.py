"""Sums of squares are added up atomically; each program of the second kernel works out the factor itself."""

import torch
import triton
import triton.language as tl


@triton.jit
def squares_kernel(grad_ptr, total_ptr, N, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(grad_ptr + i, mask=i < N, other=0.0)
    tl.atomic_add(total_ptr, tl.sum(g * g, 0))


@triton.jit
def norm_kernel(total_ptr, norm_ptr):
    tl.store(norm_ptr, tl.sqrt(tl.load(total_ptr)))


@triton.jit
def scale_kernel(grad_ptr, norm_ptr, N, max_norm, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    factor = tl.minimum(max_norm / (tl.load(norm_ptr) + 1e-6), 1.0)
    tl.store(grad_ptr + i, tl.load(grad_ptr + i, mask=i < N, other=0.0) * factor, mask=i < N)


def clip_grad_norm(grads, max_norm: float):
    total = torch.zeros((), dtype=torch.float32, device=grads[0].device)
    norm = torch.empty_like(total)
    for g in grads:
        squares_kernel[(triton.cdiv(g.numel(), 1024),)](g, total, g.numel(), BLOCK=1024)
    norm_kernel[(1,)](total, norm)
    for g in grads:
        scale_kernel[(triton.cdiv(g.numel(), 1024),)](g, norm, g.numel(), max_norm, BLOCK=1024)
    return norm
