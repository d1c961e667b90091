"""Pooling and a 1 × 1 convolution may change places, so that a quarter of the products is left: one kernel normalises, applies
ReLU, pools and multiplies what it pooled by the weights, and nothing lies in memory between.

style: module_reordered
"""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def plane_moments_kernel(x_ptr, means_ptr, squares_ptr, plane, BLOCK: tl.constexpr):
    """Mean and sum of squared deviations of one channel of one sample."""
    image = x_ptr + tl.program_id(0).to(tl.int64) * plane
    lanes = tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, plane, BLOCK):
        sums += tl.load(image + start + lanes, mask=start + lanes < plane, other=0.0)
    mean = tl.sum(sums, 0) / plane
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, plane, BLOCK):
        inside = start + lanes < plane
        away = tl.where(inside, tl.load(image + start + lanes, mask=inside, other=0.0) - mean, 0.0)
        squares += away * away
    tl.store(means_ptr + tl.program_id(0), mean)
    tl.store(squares_ptr + tl.program_id(0), tl.sum(squares, 0))


@triton.jit
def channel_statistics_kernel(
    means_ptr, squares_ptr, mean_ptr, deviation_ptr, batch, channels, plane, eps, BLOCK: tl.constexpr
):
    channel = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, batch, BLOCK):
        inside = start + lanes < batch
        sums += tl.load(means_ptr + (start + lanes) * channels + channel, mask=inside, other=0.0)
    mean = tl.sum(sums, 0) / batch
    variance = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, batch, BLOCK):
        inside = start + lanes < batch
        at = (start + lanes) * channels + channel
        away = tl.where(inside, tl.load(means_ptr + at, mask=inside, other=0.0) - mean, 0.0)
        variance += tl.load(squares_ptr + at, mask=inside, other=0.0) / plane + away * away
    tl.store(mean_ptr + channel, mean)
    tl.store(deviation_ptr + channel, tl.sqrt(tl.sum(variance, 0) / batch + eps))


@triton.jit
def pool_convolve_kernel(
    x_ptr, mean_ptr, deviation_ptr, scale_ptr, shift_ptr, w_ptr, y_ptr, channels, out_channels, height, width,
    BO: tl.constexpr, BC: tl.constexpr, BP: tl.constexpr,
):  # fmt: skip
    """A tile (output channels, pooled places) of one sample."""
    pooled_width = width // 2
    pooled = height // 2 * pooled_width
    out_tiles, place_tiles = tl.cdiv(out_channels, BO), tl.cdiv(pooled, BP)
    outs = tl.program_id(0) % out_tiles * BO + tl.arange(0, BO)
    places = tl.program_id(0) // out_tiles % place_tiles * BP + tl.arange(0, BP)
    sample = (tl.program_id(0) // (out_tiles * place_tiles)).to(tl.int64)
    corners = places // pooled_width * 2 * width + places % pooled_width * 2
    image = x_ptr + sample * channels * height * width
    total = tl.zeros((BO, BP), tl.float32)
    for start in range(0, channels, BC):
        channel = start + tl.arange(0, BC)
        known = channel < channels
        mean = tl.load(mean_ptr + channel, mask=known)[:, None]
        factor = tl.load(scale_ptr + channel, mask=known) / tl.load(deviation_ptr + channel, mask=known, other=1.0)
        shift = tl.load(shift_ptr + channel, mask=known)[:, None]
        inside = known[:, None] & (places[None, :] < pooled)
        sums = tl.zeros((BC, BP), tl.float32)
        for u in tl.static_range(2):
            for v in tl.static_range(2):
                at = image + channel[:, None] * height * width + corners[None, :] + u * width + v
                x = (tl.load(at, mask=inside, other=0.0) - mean) * factor[:, None] + shift
                sums += tl.where(x < 0, 0.0, x)
        # what lies outside is no zero after the shift
        sums = tl.where(inside, sums, 0.0)
        w = tl.load(
            w_ptr + outs[:, None] * channels + channel[None, :],
            mask=(outs[:, None] < out_channels) & known[None, :],
            other=0.0,
        )
        total += tl.dot(w.to(tl.float32), sums, input_precision="ieee")
    at = (sample * out_channels + outs[:, None]) * pooled + places[None, :]
    tl.store(y_ptr + at, 0.25 * total, mask=(outs[:, None] < out_channels) & (places[None, :] < pooled))


class ModelNew(nn.Module):
    def __init__(self, num_input_features, num_output_features):
        super().__init__()
        self.transition = nn.Sequential(
            nn.BatchNorm2d(num_input_features),
            nn.ReLU(inplace=True),
            nn.Conv2d(num_input_features, num_output_features, kernel_size=1, bias=False),
            nn.AvgPool2d(kernel_size=2, stride=2),
        )

    def forward(self, x):
        x = x.contiguous()
        norm, _, conv, _ = self.transition
        batch, channels, height, width = x.shape
        plane, out_channels = height * width, conv.out_channels
        means, squares = torch.empty(2, batch, channels, device=x.device)
        mean, deviation = torch.empty(2, channels, device=x.device)
        y = torch.empty(batch, out_channels, height // 2, width // 2, device=x.device, dtype=x.dtype)
        block = min(triton.next_power_of_2(plane), 4096)
        plane_moments_kernel[(batch * channels,)](x, means, squares, plane, BLOCK=block, num_warps=8)
        channel_statistics_kernel[(channels,)](
            means, squares, mean, deviation, batch, channels, plane, norm.eps, BLOCK=128
        )
        tiles = triton.cdiv(out_channels, 64) * triton.cdiv(y[0, 0].numel(), 64)
        pool_convolve_kernel[(batch * tiles,)](
            x, mean, deviation, norm.weight, norm.bias, conv.weight, y, channels, out_channels, height, width,
            BO=64, BC=16, BP=64, num_stages=1,
        )  # fmt: skip
        return y
