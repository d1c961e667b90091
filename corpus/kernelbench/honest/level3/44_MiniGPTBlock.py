"""The whole block in Triton: layer norm, products with GELU or the shortcut in their epilogues, and attention that never
writes its scores to memory.

style: module_flash_attention
"""

import math

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def layer_norm_kernel(x_ptr, weight_ptr, bias_ptr, y_ptr, n, eps, BLOCK: tl.constexpr):
    place = tl.arange(0, BLOCK)
    inside = place < n
    row = tl.program_id(0).to(tl.int64) * n
    x = tl.load(x_ptr + row + place, mask=inside, other=0.0).to(tl.float32)
    away = tl.where(inside, x - tl.sum(x, 0) / n, 0.0)
    y = away / tl.sqrt(tl.sum(away * away, 0) / n + eps)
    weight, bias = tl.load(weight_ptr + place, mask=inside), tl.load(bias_ptr + place, mask=inside)
    tl.store(y_ptr + row + place, y * weight + bias, mask=inside)


@triton.jit
def tanh(x):
    # exp of a negative number cannot overflow
    e = tl.exp(-2.0 * tl.abs(x))
    return tl.where(x < 0, -1.0, 1.0) * (1.0 - e) / (1.0 + e)


@triton.jit
def linear_kernel(
    x_ptr, w_ptr, bias_ptr, rest_ptr, y_ptr, m, n, k,
    GELU: tl.constexpr, REST: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    rows = (tl.program_id(0) * BM + tl.arange(0, BM)).to(tl.int64)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    # a sum of short sums: one chain of thousands of products loses digits
    for outer in range(0, k, 8 * BK):
        part = tl.zeros((BM, BN), tl.float32)
        for start in range(outer, tl.minimum(outer + 8 * BK, k), BK):
            inner = start + tl.arange(0, BK)
            x = tl.load(
                x_ptr + rows[:, None] * k + inner[None, :], mask=(rows[:, None] < m) & (inner[None, :] < k), other=0.0
            )
            w = tl.load(
                w_ptr + columns[None, :] * k + inner[:, None],
                mask=(columns[None, :] < n) & (inner[:, None] < k),
                other=0.0,
            )
            part = tl.dot(x, w, part, input_precision="ieee")
        total += part
    y = total + tl.load(bias_ptr + columns, mask=columns < n, other=0.0)[None, :]
    if GELU:
        y = 0.5 * y * (1.0 + tanh(0.7978845608028654 * (y + 0.044715 * y * y * y)))
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    at = rows[:, None] * n + columns[None, :]
    if REST:
        y += tl.load(rest_ptr + at, mask=inside, other=0.0)
    tl.store(y_ptr + at, y, mask=inside)


@triton.jit
def attention_kernel(
    qkv_ptr, y_ptr, length, heads, size, scale, BQ: tl.constexpr, BK: tl.constexpr, SIZE: tl.constexpr
):
    """A tile of queries of one head against all keys before them; ``qkv`` is (batch, length, 3, heads, size)."""
    batch, head = tl.program_id(1) // heads, tl.program_id(1) % heads
    width = heads * size
    base = batch.to(tl.int64) * length * 3 * width + head * size
    lanes = tl.arange(0, SIZE)
    queries = tl.program_id(0) * BQ + tl.arange(0, BQ)
    known = (queries[:, None] < length) & (lanes[None, :] < size)
    q = tl.load(qkv_ptr + base + queries[:, None] * 3 * width + lanes[None, :], mask=known, other=0.0)
    largest = tl.full((BQ,), -float("inf"), tl.float32)
    total = tl.zeros((BQ,), tl.float32)
    result = tl.zeros((BQ, SIZE), tl.float32)
    end = tl.minimum((tl.program_id(0) + 1) * BQ, length)
    for start in range(0, end, BK):
        keys = start + tl.arange(0, BK)
        inside = (keys[:, None] < length) & (lanes[None, :] < size)
        at = base + keys[:, None] * 3 * width + lanes[None, :]
        k = tl.load(qkv_ptr + at + width, mask=inside, other=0.0)
        v = tl.load(qkv_ptr + at + 2 * width, mask=inside, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        scores = tl.where((keys[None, :] <= queries[:, None]) & (keys[None, :] < length), scores, -float("inf"))
        new = tl.maximum(largest, tl.max(scores, 1))
        weights = tl.exp(scores - new[:, None])
        fade = tl.exp(largest - new)
        total = total * fade + tl.sum(weights, 1)
        result = tl.dot(weights.to(v.dtype), v, result * fade[:, None], input_precision="ieee")
        largest = new
    at = (batch.to(tl.int64) * length + queries[:, None]) * width + head * size + lanes[None, :]
    tl.store(y_ptr + at, result / total[:, None], mask=known)


def layer_norm(x, norm):
    y = torch.empty_like(x)
    n = x.shape[-1]
    layer_norm_kernel[(x.numel() // n,)](x, norm.weight, norm.bias, y, n, norm.eps, BLOCK=triton.next_power_of_2(n))
    return y


def linear(x, layer, gelu=False, rest=None):
    m, n, k = x.numel() // x.shape[-1], layer.out_features, layer.in_features
    y = torch.empty(*x.shape[:-1], n, device=x.device, dtype=x.dtype)
    linear_kernel[(triton.cdiv(m, 64), triton.cdiv(n, 64))](
        x, layer.weight, layer.bias, x if rest is None else rest, y, m, n, k,
        GELU=gelu, REST=rest is not None, BM=64, BN=64, BK=32,
    )  # fmt: skip
    return y


class Attention(nn.Module):
    def __init__(self, n_embd, n_head, attn_pdrop, resid_pdrop, max_seqlen):
        super().__init__()
        if attn_pdrop or resid_pdrop:
            raise ValueError("dropout is not written yet")
        self.n_head = n_head
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)
        self.register_buffer("bias", torch.tril(torch.ones(1, 1, max_seqlen, max_seqlen)))

    def forward(self, x, rest):
        batch, length, width = x.shape
        size = width // self.n_head
        qkv = linear(x, self.c_attn)
        y = torch.empty_like(x)
        attention_kernel[(triton.cdiv(length, 32), batch * self.n_head)](
            qkv,
            y,
            length,
            self.n_head,
            size,
            1 / math.sqrt(size),
            BQ=32,
            BK=32,
            SIZE=max(16, triton.next_power_of_2(size)),
        )
        return linear(y, self.c_proj, rest=rest)


class ModelNew(nn.Module):
    def __init__(self, n_embd, n_head, attn_pdrop, resid_pdrop, max_seqlen):
        super().__init__()
        self.ln_1 = nn.LayerNorm(n_embd)
        self.attn = Attention(n_embd, n_head, attn_pdrop, resid_pdrop, max_seqlen)
        self.ln_2 = nn.LayerNorm(n_embd)
        self.mlp = nn.ModuleDict(dict(c_fc=nn.Linear(n_embd, 4 * n_embd), c_proj=nn.Linear(4 * n_embd, n_embd)))

    def forward(self, x):
        x = x.contiguous()
        x = self.attn(layer_norm(x, self.ln_1), rest=x)
        hidden = linear(layer_norm(x, self.ln_2), self.mlp["c_fc"], gelu=True)
        return linear(hidden, self.mlp["c_proj"], rest=x)
