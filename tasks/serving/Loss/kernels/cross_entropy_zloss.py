"""A program a row, which goes over it once: every lane keeps a largest logit and a sum of its own, and they are put together at the end."""

import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(logits_ptr, target_ptr, lse_ptr, loss_ptr, V, ignore_index, z_weight, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    top, total = tl.full((BLOCK,), float("-inf"), tl.float32), tl.zeros((BLOCK,), tl.float32)
    for start in range(0, V, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + row * V + i, mask=i < V, other=float("-inf"), eviction_policy="evict_first")
        x = x.to(tl.float32) * 1.4426950408889634
        larger = tl.maximum(top, x)
        # A lane that has seen nothing yet has -inf on both sides.
        fade = tl.where(larger == top, 1.0, tl.exp2(top - larger))
        total = total * fade + tl.where(x == float("-inf"), 0.0, tl.exp2(x - larger))
        top = larger
    largest = tl.max(top, 0)
    total = tl.sum(total * tl.exp2(top - largest), 0)
    lse = (tl.log2(total) + largest) * 0.6931471805599453
    tl.store(lse_ptr + row, lse)
    target = tl.load(target_ptr + row)
    kept = target != ignore_index
    picked = tl.load(logits_ptr + row * V + target, mask=kept, other=0.0).to(tl.float32)
    tl.store(loss_ptr + row, tl.where(kept, lse - picked + z_weight * lse * lse, 0.0))


@triton.jit
def mean_kernel(loss_ptr, target_ptr, out_ptr, T, ignore_index, BLOCK: tl.constexpr):
    total, count = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.int32)
    for start in range(0, T, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(loss_ptr + i, mask=i < T, other=0.0)
        count += (tl.load(target_ptr + i, mask=i < T, other=ignore_index) != ignore_index).to(tl.int32)
    tl.store(out_ptr, tl.sum(total, 0) / tl.maximum(tl.sum(count, 0), 1).to(tl.float32))


def cross_entropy_zloss(logits, target, ignore_index: int = -100, z_weight: float = 1e-4):
    T, V = logits.shape
    lse, losses = (torch.empty(T, dtype=torch.float32, device=logits.device) for _ in range(2))
    loss = torch.empty((), dtype=torch.float32, device=logits.device)
    block = min(4096, triton.next_power_of_2(V))
    rows_kernel[(T,)](logits, target, lse, losses, V, ignore_index, z_weight, BLOCK=block, num_warps=8)
    mean_kernel[(1,)](losses, target, loss, T, ignore_index, BLOCK=1024)
    return loss, lse
