"""A program has a chunk of a row; the number of positions that count is found by a small kernel first."""

import torch
import triton
import triton.language as tl


@triton.jit
def count_kernel(target_ptr, grad_loss_ptr, factor_ptr, T, ignore_index, BLOCK: tl.constexpr):
    count = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, T, BLOCK):
        i = start + tl.arange(0, BLOCK)
        count += (tl.load(target_ptr + i, mask=i < T, other=ignore_index) != ignore_index).to(tl.int32)
    tl.store(factor_ptr, tl.load(grad_loss_ptr) / tl.maximum(tl.sum(count, 0), 1).to(tl.float32))


@triton.jit
def chunks_kernel(
    logits_ptr, target_ptr, lse_ptr, factor_ptr, grad_ptr, V, ignore_index, z_weight, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    target = tl.load(target_ptr + row)
    if target == ignore_index:
        tl.store(grad_ptr + row * V + i, tl.zeros((BLOCK,), tl.bfloat16), mask=i < V)
    else:
        lse, factor = tl.load(lse_ptr + row), tl.load(factor_ptr)
        x = tl.load(logits_ptr + row * V + i, mask=i < V, other=0.0, eviction_policy="evict_first").to(tl.float32)
        p = tl.exp2((x - lse) * 1.4426950408889634)
        grad = factor * ((1.0 + 2.0 * z_weight * lse) * p - tl.where(i == target, 1.0, 0.0))
        tl.store(grad_ptr + row * V + i, grad.to(tl.bfloat16), mask=i < V)


def cross_entropy_zloss_backward(grad_loss, logits, target, lse, ignore_index: int = -100, z_weight: float = 1e-4):
    T, V = logits.shape
    grad = torch.empty_like(logits)
    factor = torch.empty((), dtype=torch.float32, device=logits.device)
    count_kernel[(1,)](target, grad_loss, factor, T, ignore_index, BLOCK=1024)
    block = min(4096, triton.next_power_of_2(V))
    grid = (T, triton.cdiv(V, block))
    chunks_kernel[grid](logits, target, lse, factor, grad, V, ignore_index, z_weight, BLOCK=block, num_warps=8)
    return grad
