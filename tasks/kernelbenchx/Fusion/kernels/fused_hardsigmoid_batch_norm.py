"""Batch normalization and the piecewise linear logistic function: statistics by tiles, then one pass.

Elements are seen as rows (places of the batch and the image) times channels. A tile is wide where channels are
neighbours in memory (two-dimensional input) and one channel wide otherwise, so that reads coalesce either way. In
training each tile leaves its mean and its squared differences from that mean, which combine without cancellation.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def tile(n, C, spatial, ROWS: tl.constexpr, CHANNELS: tl.constexpr):
    """Offsets and mask of this program's tile of a contiguous (batch, C, spatial), and its channels."""
    r = (tl.program_id(1).to(tl.int64) * ROWS + tl.arange(0, ROWS))[:, None]
    c = tl.program_id(0) * CHANNELS + tl.arange(0, CHANNELS)
    at = (r // spatial * C + c[None, :]) * spatial + r % spatial
    return at, (r < n) & (c < C)[None, :], c


@triton.jit
def statistics_kernel(x_ptr, mean_ptr, squares_ptr, n, C, spatial, ROWS: tl.constexpr, CHANNELS: tl.constexpr):
    at, mask, c = tile(n, C, spatial, ROWS, CHANNELS)
    x = tl.load(x_ptr + at, mask=mask, other=0.0)
    count = tl.minimum(n - tl.program_id(1) * ROWS, ROWS)
    mean = tl.sum(x, 0) / count
    away = tl.where(mask, x - mean[None, :], 0.0)
    target = tl.program_id(1).to(tl.int64) * C + c
    tl.store(mean_ptr + target, mean, mask=c < C)
    tl.store(squares_ptr + target, tl.sum(away * away, 0), mask=c < C)


@triton.jit
def combine_kernel(
    means_ptr, squares_ptr, mean_ptr, var_ptr, running_mean_ptr, running_var_ptr, n, C, tiles, momentum, unbiased,
    ROWS: tl.constexpr, TILES: tl.constexpr, CHANNELS: tl.constexpr,
):  # fmt: skip
    """``unbiased`` is n / (n - 1)."""
    c = (tl.program_id(0) * CHANNELS + tl.arange(0, CHANNELS))[None, :]
    total = tl.zeros((TILES, CHANNELS), tl.float32)
    for start in range(0, tiles, TILES):
        t = (start + tl.arange(0, TILES))[:, None]
        count = tl.minimum(n - t * ROWS, ROWS)
        mask = (t < tiles) & (c < C)
        total += count * tl.load(means_ptr + t.to(tl.int64) * C + c, mask=mask, other=0.0)
    mean = (tl.sum(total, 0) / n)[None, :]
    total = tl.zeros((TILES, CHANNELS), tl.float32)
    for start in range(0, tiles, TILES):
        t = (start + tl.arange(0, TILES))[:, None]
        count = tl.minimum(n - t * ROWS, ROWS)
        mask = (t < tiles) & (c < C)
        away = tl.load(means_ptr + t.to(tl.int64) * C + c, mask=mask, other=0.0) - mean
        within = tl.load(squares_ptr + t.to(tl.int64) * C + c, mask=mask, other=0.0)
        total += tl.where(mask, within + count * away * away, 0.0)
    var = (tl.sum(total, 0) / n)[None, :]
    tl.store(mean_ptr + c, mean, mask=c < C)
    tl.store(var_ptr + c, var, mask=c < C)
    old = tl.load(running_mean_ptr + c, mask=c < C, other=0.0)
    tl.store(running_mean_ptr + c, (1.0 - momentum) * old + momentum * mean, mask=c < C)
    old = tl.load(running_var_ptr + c, mask=c < C, other=0.0)
    tl.store(running_var_ptr + c, (1.0 - momentum) * old + momentum * unbiased * var, mask=c < C)


@triton.jit
def normalise_kernel(
    x_ptr, out_ptr, mean_ptr, var_ptr, weight_ptr, bias_ptr, n, C, spatial, eps,
    WEIGHT: tl.constexpr, BIAS: tl.constexpr, ROWS: tl.constexpr, CHANNELS: tl.constexpr,
):  # fmt: skip
    at, mask, c = tile(n, C, spatial, ROWS, CHANNELS)
    mean = tl.load(mean_ptr + c, mask=c < C, other=0.0)
    scale = 1.0 / tl.sqrt(tl.load(var_ptr + c, mask=c < C, other=1.0) + eps)
    if WEIGHT:
        scale *= tl.load(weight_ptr + c, mask=c < C, other=1.0)
    y = (tl.load(x_ptr + at, mask=mask, other=0.0) - mean[None, :]) * scale[None, :]
    if BIAS:
        y += tl.load(bias_ptr + c, mask=c < C, other=0.0)[None, :]
    tl.store(out_ptr + at, tl.minimum(tl.maximum(y + 3.0, 0.0), 6.0) / 6.0, mask=mask)


def fused_hardsigmoid_batch_norm(
    x: torch.Tensor,
    running_mean: torch.Tensor,
    running_var: torch.Tensor,
    weight: torch.Tensor = None,
    bias: torch.Tensor = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-05,
    inplace: bool = False,
) -> torch.Tensor:
    x = x.contiguous()
    out = torch.empty_like(x)
    if not x.numel():
        return out
    C, spatial = x.shape[1], x.shape[2:].numel()
    n = x.numel() // C
    channels = min(triton.next_power_of_2(C), 128) if spatial == 1 else 1
    rows = min(triton.next_power_of_2(n), 4096 // channels)
    grid = (triton.cdiv(C, channels), triton.cdiv(n, rows))
    mean, var = running_mean, running_var
    if training:
        mean, var = torch.empty((2, C), dtype=torch.float32, device=x.device)
        means, squares = torch.empty((2, grid[1], C), dtype=torch.float32, device=x.device)
        statistics_kernel[grid](x, means, squares, n, C, spatial, ROWS=rows, CHANNELS=channels, num_warps=8)
        wide = min(triton.next_power_of_2(C), 32)
        combine_kernel[(triton.cdiv(C, wide),)](
            means, squares, mean, var, running_mean, running_var, n, C, grid[1], momentum, n / max(n - 1, 1),
            ROWS=rows, TILES=32, CHANNELS=wide,
        )  # fmt: skip
    normalise_kernel[grid](
        x, out, mean, var, weight, bias, n, C, spatial, eps,
        WEIGHT=weight is not None, BIAS=bias is not None, ROWS=rows, CHANNELS=channels, num_warps=8,
    )  # fmt: skip
    return out
