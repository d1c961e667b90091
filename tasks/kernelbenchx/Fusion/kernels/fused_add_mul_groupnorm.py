"""Group normalization of (x + y) · y: statistics by chunks of a group, then one pass that combines and applies them.

A chunk leaves its mean and its squared differences from that mean; these combine without cancellation. Many chunks a
group keep the whole device busy even where there are few groups.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def product(x_ptr, y_ptr, at, mask):
    x = tl.load(x_ptr + at, mask=mask, other=0.0)
    y = tl.load(y_ptr + at, mask=mask, other=0.0)
    return (x + y) * y


@triton.jit
def statistics_kernel(x_ptr, y_ptr, mean_ptr, squares_ptr, size, BLOCK: tl.constexpr):
    """Chunk ``program_id(0)`` of group ``program_id(1)``, which has ``size`` elements."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    group = tl.program_id(1).to(tl.int64)
    m = product(x_ptr, y_ptr, group * size + i, i < size)
    mean = tl.sum(m, 0) / tl.minimum(size - tl.program_id(0) * BLOCK, BLOCK)
    away = tl.where(i < size, m - mean, 0.0)
    target = group * tl.num_programs(0) + tl.program_id(0)
    tl.store(mean_ptr + target, mean)
    tl.store(squares_ptr + target, tl.sum(away * away, 0))


@triton.jit
def normalise_kernel(
    x_ptr, y_ptr, mean_ptr, squares_ptr, weight_ptr, bias_ptr, out_ptr, size, groups, channels, spatial, eps,
    WEIGHT: tl.constexpr, BIAS: tl.constexpr, CHUNKS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    chunks, group = tl.num_programs(0), tl.program_id(1).to(tl.int64)
    k = tl.arange(0, CHUNKS)
    count = tl.minimum(size - k * BLOCK, BLOCK)
    means = tl.load(mean_ptr + group * chunks + k, mask=k < chunks, other=0.0)
    mean = tl.sum(tl.where(k < chunks, count * means, 0.0), 0) / size
    away = means - mean
    squares = tl.load(squares_ptr + group * chunks + k, mask=k < chunks, other=0.0) + count * away * away
    scale = 1.0 / tl.sqrt(tl.sum(tl.where(k < chunks, squares, 0.0), 0) / size + eps)

    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at, mask = group * size + i, i < size
    c = group % groups * channels + i // spatial
    y = (product(x_ptr, y_ptr, at, mask) - mean) * scale
    if WEIGHT:
        y *= tl.load(weight_ptr + c, mask=mask, other=0.0)
    if BIAS:
        y += tl.load(bias_ptr + c, mask=mask, other=0.0)
    tl.store(out_ptr + at, y, mask=mask)


def fused_add_mul_groupnorm(input1, input2, weight, bias, num_groups, eps=1e-05, *, out=None):
    x, y = (t.contiguous() for t in torch.broadcast_tensors(input1, input2))
    if out is None:
        out = torch.empty_like(x)
    if x.numel():
        N, C, spatial = x.shape[0], x.shape[1], x.shape[2:].numel()
        size = C // num_groups * spatial
        block = min(triton.next_power_of_2(size), 4096)
        grid = (triton.cdiv(size, block), N * num_groups)
        mean, squares = torch.empty((2, grid[1], grid[0]), dtype=torch.float32, device=x.device)
        statistics_kernel[grid](x, y, mean, squares, size, BLOCK=block, num_warps=8)
        normalise_kernel[grid](
            x, y, mean, squares, weight, bias, out, size, num_groups, C // num_groups, spatial, eps,
            WEIGHT=weight is not None, BIAS=bias is not None,
            CHUNKS=triton.next_power_of_2(grid[0]), BLOCK=block, num_warps=8,
        )  # fmt: skip
    return out
