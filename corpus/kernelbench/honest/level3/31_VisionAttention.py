"""Channels stay in front of places, where neighbouring places lie beside each other, and nothing is transposed in memory: one
kernel projects, one attends without writing scores, and one projects, adds the input and normalises.

style: module_channels_in_front
"""

import math

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def product(x_ptr, w_ptr, outs, places, out_channels, channels, length, BC: tl.constexpr):
    """``w @ x`` of one sample: a tile (output channels, places)."""
    total = tl.zeros((outs.shape[0], places.shape[0]), tl.float32)
    for start in range(0, channels, BC):
        channel = start + tl.arange(0, BC)
        w = tl.load(
            w_ptr + outs[:, None] * channels + channel[None, :],
            mask=(outs[:, None] < out_channels) & (channel[None, :] < channels),
            other=0.0,
        )
        x = tl.load(
            x_ptr + channel[:, None] * length + places[None, :],
            mask=(channel[:, None] < channels) & (places[None, :] < length),
            other=0.0,
        )
        total += tl.dot(w, x, input_precision="ieee")
    return total


@triton.jit
def project_kernel(
    x_ptr, w_ptr, bias_ptr, y_ptr, out_channels, channels, length, BO: tl.constexpr, BC: tl.constexpr, BP: tl.constexpr
):
    out_tiles, place_tiles = tl.cdiv(out_channels, BO), tl.cdiv(length, BP)
    outs = tl.program_id(0) % out_tiles * BO + tl.arange(0, BO)
    places = tl.program_id(0) // out_tiles % place_tiles * BP + tl.arange(0, BP)
    sample = (tl.program_id(0) // (out_tiles * place_tiles)).to(tl.int64)
    y = product(x_ptr + sample * channels * length, w_ptr, outs, places, out_channels, channels, length, BC)
    y += tl.load(bias_ptr + outs, mask=outs < out_channels, other=0.0)[:, None]
    at = (sample * out_channels + outs[:, None]) * length + places[None, :]
    tl.store(y_ptr + at, y, mask=(outs[:, None] < out_channels) & (places[None, :] < length))


@triton.jit
def attention_kernel(
    qkv_ptr, y_ptr, length, heads, size, scale, BQ: tl.constexpr, BK: tl.constexpr, SIZE: tl.constexpr
):
    """A tile of queries of one head against all keys; ``qkv`` is (batch, 3, heads, size, length)."""
    tiles = tl.cdiv(length, BQ)
    queries = tl.program_id(0) % tiles * BQ + tl.arange(0, BQ)
    head, sample = tl.program_id(0) // tiles % heads, (tl.program_id(0) // (tiles * heads)).to(tl.int64)
    each = heads * size * length
    qkv_ptr += sample * 3 * each + head * size * length
    channel = tl.arange(0, SIZE)
    known = (channel[:, None] < size) & (queries[None, :] < length)
    at = channel[:, None] * length + queries[None, :]
    q = tl.trans(tl.load(qkv_ptr + at, mask=known, other=0.0) * scale)
    largest = tl.full((BQ,), -float("inf"), tl.float32)
    total = tl.zeros((BQ,), tl.float32)
    result = tl.zeros((BQ, SIZE), tl.float32)
    for start in range(0, length, BK):
        keys = start + tl.arange(0, BK)
        inside = (channel[:, None] < size) & (keys[None, :] < length)
        place = qkv_ptr + channel[:, None] * length + keys[None, :]
        k = tl.load(place + each, mask=inside, other=0.0)
        v = tl.load(place + 2 * each, mask=inside, other=0.0)
        scores = tl.dot(q, k, input_precision="ieee")
        scores = tl.where(keys[None, :] < length, scores, -float("inf"))
        new = tl.maximum(largest, tl.max(scores, 1))
        weights = tl.exp(scores - new[:, None])
        fade = tl.exp(largest - new)
        total = total * fade + tl.sum(weights, 1)
        # added as a short sum of its own: one chain of thousands of products loses digits
        result = result * fade[:, None] + tl.dot(weights, tl.trans(v), input_precision="ieee")
        largest = new
    y_ptr += sample * each + head * size * length
    tl.store(y_ptr + at, tl.trans(result / total[:, None]), mask=known)


@triton.jit
def project_norm_kernel(
    x_ptr, w_ptr, bias_ptr, rest_ptr, scale_ptr, shift_ptr, y_ptr, channels, length, eps,
    ALL: tl.constexpr, BC: tl.constexpr, BP: tl.constexpr,
):  # fmt: skip
    """All channels of some places, so that these can be normalised."""
    tiles = tl.cdiv(length, BP)
    outs = tl.arange(0, ALL)
    places = tl.program_id(0) % tiles * BP + tl.arange(0, BP)
    sample = (tl.program_id(0) // tiles).to(tl.int64) * channels * length
    known = outs < channels
    inside = known[:, None] & (places[None, :] < length)
    at = sample + outs[:, None] * length + places[None, :]
    y = product(x_ptr + sample, w_ptr, outs, places, channels, channels, length, BC)
    y += tl.load(bias_ptr + outs, mask=known, other=0.0)[:, None] + tl.load(rest_ptr + at, mask=inside, other=0.0)
    away = tl.where(known[:, None], y - tl.sum(y, 0)[None, :] / channels, 0.0)
    y = away / tl.sqrt(tl.sum(away * away, 0) / channels + eps)[None, :]
    scale, shift = tl.load(scale_ptr + outs, mask=known), tl.load(shift_ptr + outs, mask=known)
    tl.store(y_ptr + at, y * scale[:, None] + shift[:, None], mask=inside)


class ModelNew(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.attn = nn.MultiheadAttention(embed_dim, num_heads)
        self.norm = nn.LayerNorm(embed_dim)

    def forward(self, x):
        x = x.contiguous()
        attn, norm = self.attn, self.norm
        batch, channels, height, width = x.shape
        length, heads, size = height * width, attn.num_heads, attn.head_dim
        qkv = torch.empty(batch, 3 * channels, length, device=x.device)
        attended, y = torch.empty_like(x), torch.empty_like(x)
        project_kernel[(batch * triton.cdiv(3 * channels, 64) * triton.cdiv(length, 64),)](
            x, attn.in_proj_weight, attn.in_proj_bias, qkv, 3 * channels, channels, length, BO=64, BC=16, BP=64
        )
        # wide heads leave room for fewer queries
        SIZE = max(16, triton.next_power_of_2(size))
        BQ = min(128, max(16, 4096 // SIZE))
        attention_kernel[(batch * heads * triton.cdiv(length, BQ),)](
            qkv, attended, length, heads, size, 1 / math.sqrt(size), BQ=BQ, BK=32 if SIZE <= 32 else 16, SIZE=SIZE
        )
        project_norm_kernel[(batch * triton.cdiv(length, 32),)](
            attended, attn.out_proj.weight, attn.out_proj.bias, x, norm.weight, norm.bias, y, channels, length,
            norm.eps, ALL=max(16, triton.next_power_of_2(channels)), BC=16, BP=32,
        )  # fmt: skip
        return y
