"""A program a row, in two passes: the largest logit, then the sum of the exponentials."""

import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(logits_ptr, target_ptr, lse_ptr, loss_ptr, V, ignore_index, z_weight, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    top = float("-inf")
    for start in range(0, V, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + row * V + i, mask=i < V, other=float("-inf")).to(tl.float32)
        top = tl.maximum(top, tl.max(x, 0))
    total = 0.0
    for start in range(0, V, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + row * V + i, mask=i < V, other=float("-inf")).to(tl.float32)
        total += tl.sum(tl.exp(x - top), 0)
    lse = tl.log(total) + top
    tl.store(lse_ptr + row, lse)
    target = tl.load(target_ptr + row)
    loss = 0.0
    if target != ignore_index:
        loss = lse - tl.load(logits_ptr + row * V + target).to(tl.float32) + z_weight * lse * lse
    tl.store(loss_ptr + row, loss)


@triton.jit
def mean_kernel(loss_ptr, target_ptr, out_ptr, T, ignore_index, BLOCK: tl.constexpr):
    total, count = 0.0, 0
    for start in range(0, T, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.sum(tl.load(loss_ptr + i, mask=i < T, other=0.0), 0)
        target = tl.load(target_ptr + i, mask=i < T, other=ignore_index)
        count += tl.sum((target != ignore_index).to(tl.int32), 0)
    tl.store(out_ptr, total / tl.maximum(count, 1))


def cross_entropy_zloss(logits, target, ignore_index: int = -100, z_weight: float = 1e-4):
    T, V = logits.shape
    lse, losses = (torch.empty(T, dtype=torch.float32, device=logits.device) for _ in range(2))
    loss = torch.empty((), dtype=torch.float32, device=logits.device)
    rows_kernel[(T,)](logits, target, lse, losses, V, ignore_index, z_weight, BLOCK=1024)
    mean_kernel[(1,)](losses, target, loss, T, ignore_index, BLOCK=512)
    return loss, lse
