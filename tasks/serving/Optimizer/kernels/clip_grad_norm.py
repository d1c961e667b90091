"""One sum of squares for each block of a tensor, put together by one program; blocks are scaled only if there is something to clip, and last ones
first, since they are still in the L2 cache."""

import torch
import triton
import triton.language as tl

BLOCK = 8192


@triton.jit
def squares_kernel(grad_ptr, partial_ptr, N, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(grad_ptr + i, mask=i < N, other=0.0)
    tl.store(partial_ptr + tl.program_id(0), tl.sum(g * g, 0))


@triton.jit
def norm_kernel(partial_ptr, norm_ptr, factor_ptr, count, max_norm, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, count, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(partial_ptr + i, mask=i < count, other=0.0)
    norm = tl.sqrt_rn(tl.sum(total, 0))
    tl.store(norm_ptr, norm)
    tl.store(factor_ptr, tl.minimum(max_norm / (norm + 1e-6), 1.0))


@triton.jit
def scale_kernel(grad_ptr, factor_ptr, N, BLOCK: tl.constexpr):
    factor = tl.load(factor_ptr)
    if factor < 1.0:
        block = tl.num_programs(0) - 1 - tl.program_id(0)
        i = block.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        tl.store(grad_ptr + i, tl.load(grad_ptr + i, mask=i < N, other=0.0) * factor, mask=i < N)


def clip_grad_norm(grads, max_norm: float):
    device, sizes = grads[0].device, [g.numel() for g in grads]
    blocks = [triton.cdiv(size, BLOCK) for size in sizes]
    partial = torch.empty(sum(blocks), dtype=torch.float32, device=device)
    norm, factor = (torch.empty((), dtype=torch.float32, device=device) for _ in range(2))
    for g, size, part in zip(grads, sizes, partial.split(blocks), strict=True):
        squares_kernel[(part.numel(),)](g, part, size, BLOCK=BLOCK, num_warps=8)
    norm_kernel[(1,)](partial, norm, factor, sum(blocks), max_norm, BLOCK=1024)
    for g, size, count in reversed(list(zip(grads, sizes, blocks, strict=True))):
        scale_kernel[(count,)](g, factor, size, BLOCK=BLOCK, num_warps=8)
    return norm
