"""A program a row, a block of the vocabulary at a time; each counts the positions that are not ignored."""

import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(
    grad_loss_ptr, logits_ptr, target_ptr, lse_ptr, grad_ptr, T, V, ignore_index, z_weight, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    count = 0
    for start in range(0, T, BLOCK):
        i = start + tl.arange(0, BLOCK)
        target = tl.load(target_ptr + i, mask=i < T, other=ignore_index)
        count += tl.sum((target != ignore_index).to(tl.int32), 0)
    factor = tl.load(grad_loss_ptr) / tl.maximum(count, 1)
    target, lse = tl.load(target_ptr + row), tl.load(lse_ptr + row)
    factor = tl.where(target == ignore_index, 0.0, factor)
    for start in range(0, V, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + row * V + i, mask=i < V, other=0.0).to(tl.float32)
        grad = tl.exp(x - lse) * (1.0 + 2.0 * z_weight * lse)
        grad = tl.where(i == target, grad - 1.0, grad)
        tl.store(grad_ptr + row * V + i, (grad * factor).to(tl.bfloat16), mask=i < V)


def cross_entropy_zloss_backward(grad_loss, logits, target, lse, ignore_index: int = -100, z_weight: float = 1e-4):
    T, V = logits.shape
    grad = torch.empty_like(logits)
    rows_kernel[(T,)](grad_loss, logits, target, lse, grad, T, V, ignore_index, z_weight, BLOCK=1024)
    return grad
