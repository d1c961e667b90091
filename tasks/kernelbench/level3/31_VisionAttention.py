"""Self-attention over the positions of a feature map, with a sum and a layer norm behind it.

`Model(embed_dim, num_heads)` has `attn`, an `nn.MultiheadAttention(embed_dim, num_heads)` with bias, and `norm`, an
`nn.LayerNorm(embed_dim)` (eps 1e-5), both with PyTorch's default initialisation.

`forward(x)` takes `x` of shape `(batch, embed_dim, height, width)`, float32:

1. The map becomes a sequence `s` of shape `(height · width, batch, embed_dim)`, row by row.
2. `attn.in_proj_weight` and `attn.in_proj_bias` project it to queries, keys and values (in this order), which are
   split into `num_heads` heads of `d = embed_dim / num_heads` channels. Each head computes
   `softmax(q kᵀ / sqrt(d)) v` over all positions of the same image. The heads, side by side again, go through
   `attn.out_proj`.
3. `norm(attention + s)` over the channels, brought back to `(batch, embed_dim, height, width)`.

There is no dropout, no mask and no position embedding.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("attention", "vision")
DTYPE = "float32"

PUBLISHED = dict(batch_size=2, height=128, width=128, embed_dim=128, num_heads=4)
SCALED = dict(batch_size=2, height=7, width=9, embed_dim=20, num_heads=4)

# Large inputs lead to sharp softmaxes. The few places with nearly equal large scores hold most of the error: a typical
# error is none of theirs.
CONTRACT = Close(growth=4)


class Model(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.attn = nn.MultiheadAttention(embed_dim, num_heads)
        self.norm = nn.LayerNorm(embed_dim)

    def forward(self, x):
        sequence = x.flatten(2).permute(2, 0, 1)
        attended, _ = self.attn(sequence, sequence, sequence)
        return self.norm(attended + sequence).permute(1, 2, 0).reshape(x.shape)


def init_inputs(embed_dim, num_heads):
    return [embed_dim, num_heads]


def inputs(make, batch_size, embed_dim, height, width):
    return call(make.floats(batch_size, embed_dim, height, width))


class PositiveOnlineSoftmax(Model):
    """Keys in blocks of sixteen, with a running maximum and sum; channels stay in front of positions."""

    def forward(self, x):
        heads, sequence = self.attn.num_heads, x.flatten(2)
        projected = self.attn.in_proj_weight @ sequence + self.attn.in_proj_bias[:, None]
        q, k, v = (t.unflatten(1, (heads, -1)) for t in projected.chunk(3, dim=1))
        q = q * self.attn.head_dim**-0.5
        top = q.new_full((*q.shape[:2], q.shape[3], 1), float("-inf"))
        total, result = torch.zeros_like(top), torch.zeros_like(q).mT
        for keys, values in zip(k.split(16, dim=3), v.split(16, dim=3), strict=True):
            scores = q.mT @ keys
            new_top = torch.maximum(top, scores.amax(-1, keepdim=True))
            weights, fade = (scores - new_top).exp(), (top - new_top).exp()
            result, total, top = result * fade + weights @ values.mT, total * fade + weights.sum(-1, True), new_top
        attended = self.attn.out_proj((result / total).transpose(1, 2).flatten(2))
        return self.norm(attended + sequence.mT).mT.reshape(x.shape)


class PositiveSplitChannels(Model):
    """Projects in two halves of the channels and scales the scores: roundings of its own, as a kernel's are."""

    def forward(self, x):
        sequence, half = x.flatten(2), x.shape[1] // 2
        weight, heads = self.attn.in_proj_weight, self.attn.num_heads
        projected = weight[:, :half] @ sequence[:, :half] + weight[:, half:] @ sequence[:, half:]
        projected = projected + self.attn.in_proj_bias[:, None]
        q, k, v = (t.unflatten(1, (heads, -1)) for t in projected.chunk(3, dim=1))
        weights = torch.softmax(q.mT @ k * self.attn.head_dim**-0.5, dim=-1)
        attended = self.attn.out_proj((weights @ v.mT).transpose(1, 2).flatten(2))
        return self.norm(attended + sequence.mT).mT.reshape(x.shape)


class NegativeUnscaled(Model):
    """Forgets the factor 1 / sqrt(d)."""

    def forward(self, x):
        sequence = x.flatten(2).permute(2, 0, 1)
        width = len(self.attn.in_proj_bias) // 3
        factor = torch.ones_like(self.attn.in_proj_bias)
        factor[:width] = self.attn.head_dim**0.5
        projected = (sequence @ self.attn.in_proj_weight.T + self.attn.in_proj_bias) * factor
        q, k, v = (t.unflatten(2, (self.attn.num_heads, -1)).permute(1, 2, 0, 3) for t in projected.chunk(3, dim=2))
        attended = F.scaled_dot_product_attention(q, k, v).permute(2, 0, 1, 3).flatten(2)
        return self.norm(self.attn.out_proj(attended) + sequence).permute(1, 2, 0).reshape(x.shape)


class NegativeNoSum(Model):
    """Leaves out the sum with the input."""

    def forward(self, x):
        sequence = x.flatten(2).permute(2, 0, 1)
        return self.norm(self.attn(sequence, sequence, sequence)[0]).permute(1, 2, 0).reshape(x.shape)


class NegativeAcrossImages(Model):
    """Attends over the images of the batch at each position."""

    def forward(self, x):
        sequence = x.flatten(2).permute(0, 2, 1)
        attended, _ = self.attn(sequence, sequence, sequence)
        return self.norm(attended + sequence).permute(0, 2, 1).reshape(x.shape)
