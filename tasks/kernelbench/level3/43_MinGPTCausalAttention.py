"""Causal self-attention with several heads, as in GPT.

`Model(n_embd, n_head, attn_pdrop, resid_pdrop, max_seqlen)`; `n_head` divides `n_embd`. It has

- `c_attn`, a linear layer from `n_embd` to `3 · n_embd`, and `c_proj`, one from `n_embd` to `n_embd`, both with bias
  and PyTorch's default initialisation;
- the buffer `bias`, the lower triangle of ones of shape `(1, 1, max_seqlen, max_seqlen)`: row `i` says which
  positions `i` sees;
- dropout of the attention weights and of the result with the probabilities `attn_pdrop` and `resid_pdrop`, which are
  0 in this task: no dropout takes place.

`forward(x)` takes `x` of shape `(batch, length, n_embd)`, float32, `length ≤ max_seqlen`:

1. `c_attn(x)` gives queries, keys and values, in this order, `n_embd` channels each. Head `k` takes the channels from
   `k d` to `(k + 1) d`, `d = n_embd / n_head`.
2. Each head computes `softmax(q kᵀ / sqrt(d)) v`, in which position `i` sees the positions `j ≤ i`.
3. The heads, side by side again, go through `c_proj`: `(batch, length, n_embd)`.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("attention", "softmax")
DTYPE = "float32"

PUBLISHED = dict(
    batch_size=128, length=512, n_embd=768, n_head=8, attn_pdrop=0.0, resid_pdrop=0.0, max_seqlen=1024
)  # fmt: skip
SCALED = dict(
    batch_size=2, length=19, n_embd=36, n_head=4, attn_pdrop=0.0, resid_pdrop=0.0, max_seqlen=23
)  # fmt: skip

# Large inputs lead to scores of hundreds, and rounding then decides between nearly equal ones.
DISTRIBUTIONS = ("standard", "uniform", "outliers", "small", "zeros")

# The few rows with nearly equal large scores hold most of the error: a typical error is none of theirs.
CONTRACT = Close(growth=4)


class Model(nn.Module):
    def __init__(self, n_embd, n_head, attn_pdrop, resid_pdrop, max_seqlen):
        super().__init__()
        self.n_head = n_head
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)
        self.attn_dropout = nn.Dropout(attn_pdrop)
        self.resid_dropout = nn.Dropout(resid_pdrop)
        self.register_buffer("bias", torch.tril(torch.ones(1, 1, max_seqlen, max_seqlen)))

    def heads(self, x):
        """Queries, keys and values, each `(batch, heads, length, channels)`."""
        return (t.unflatten(2, (self.n_head, -1)).transpose(1, 2) for t in self.c_attn(x).chunk(3, dim=2))

    def merge(self, y):
        return self.resid_dropout(self.c_proj(y.transpose(1, 2).flatten(2)))

    def forward(self, x):
        length = x.shape[1]
        q, k, v = self.heads(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])
        scores = scores.masked_fill(self.bias[:, :, :length, :length] == 0, float("-inf"))
        weights = self.attn_dropout(F.softmax(scores, dim=-1))
        return self.merge(weights @ v)


def init_inputs(n_embd, n_head, attn_pdrop, resid_pdrop, max_seqlen):
    return [n_embd, n_head, attn_pdrop, resid_pdrop, max_seqlen]


def inputs(make, batch_size, length, n_embd):
    return call(make.floats(batch_size, length, n_embd))


class PositiveOnlineSoftmax(Model):
    """Keys in blocks of eight, with a running maximum and sum."""

    def forward(self, x):
        q, k, v = self.heads(x)
        q = q / math.sqrt(q.shape[-1])
        rows = torch.arange(x.shape[1], device=x.device)[:, None]
        top = torch.full_like(q[..., :1], float("-inf"))
        total, result = torch.zeros_like(top), torch.zeros_like(q)
        for start in range(0, x.shape[1], 8):
            keys, values = k[:, :, start : start + 8], v[:, :, start : start + 8]
            scores = q @ keys.mT
            columns = start + torch.arange(keys.shape[2], device=x.device)
            scores = scores.masked_fill(columns > rows, float("-inf"))
            new_top = torch.maximum(top, scores.amax(-1, keepdim=True))
            weights, fade = (scores - new_top).exp(), (top - new_top).exp()
            result, total, top = result * fade + weights @ values, total * fade + weights.sum(-1, True), new_top
        return self.merge(result / total)


class NegativeSeesEverything(Model):
    """Leaves the mask out."""

    def forward(self, x):
        return self.merge(F.scaled_dot_product_attention(*self.heads(x)))


class NegativeMaskedByZero(Model):
    """Multiplies the scores by the mask: hidden positions keep the score 0."""

    def forward(self, x):
        q, k, v = self.heads(x)
        scores = (q @ k.mT / math.sqrt(k.shape[-1])).tril()
        return self.merge(scores.softmax(-1) @ v)


class NegativeScaledByWidth(Model):
    """Divides the scores by the root of all channels instead of one head's."""

    def forward(self, x):
        return self.merge(F.scaled_dot_product_attention(*self.heads(x), is_causal=True, scale=x.shape[-1] ** -0.5))


class NegativeNoProjectionBias(Model):
    """Leaves the bias of the last layer out."""

    def forward(self, x):
        y = F.scaled_dot_product_attention(*self.heads(x), is_causal=True)
        return F.linear(y.transpose(1, 2).flatten(2), self.c_proj.weight)
