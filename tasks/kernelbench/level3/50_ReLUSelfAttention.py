"""Causal self-attention with a ReLU in place of the softmax.

`Model(n_embd, n_head, max_seqlen)`; `n_head` divides `n_embd`. It has

- `c_attn`, a linear layer from `n_embd` to `3 · n_embd`, and `c_proj`, one from `n_embd` to `n_embd`, which `forward`
  does not use; both with bias and PyTorch's default initialisation, made in this order;
- the buffer `bias`, the lower triangle of ones of shape `(1, 1, max_seqlen, max_seqlen)`: row `i` says which
  positions `i` sees.

`forward(x)` takes `x` of shape `(batch, length, n_embd)`, float32, `length ≤ max_seqlen`:

1. `c_attn(x)` gives queries, keys and values, in this order, `n_embd` channels each. Head `k` takes the channels from
   `k d` to `(k + 1) d`, `d = n_embd / n_head`.
2. Each head computes `relu(q kᵀ / sqrt(d)) v`, in which position `i` sees the positions `j ≤ i`: the weights of all
   others are 0. Nothing divides by a row's sum or by its length.
3. The heads, side by side again, are the result, `(batch, length, n_embd)`, without a projection.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("attention", "matmul")
DTYPE = "float32"

PUBLISHED = dict(batch_size=16, length=1024, n_embd=768, n_head=12, max_seqlen=1024)
SCALED = dict(batch_size=2, length=19, n_embd=36, n_head=4, max_seqlen=23)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, n_embd, n_head, max_seqlen):
        super().__init__()
        self.n_head = n_head
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)
        self.register_buffer("bias", torch.tril(torch.ones(1, 1, max_seqlen, max_seqlen)))

    def heads(self, x):
        """Queries, keys and values, each `(batch, heads, length, channels)`."""
        return (t.unflatten(2, (self.n_head, -1)).transpose(1, 2) for t in self.c_attn(x).chunk(3, dim=2))

    def forward(self, x):
        length = x.shape[1]
        q, k, v = self.heads(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])
        scores = scores.masked_fill(self.bias[:, :, :length, :length] == 0, float("-inf"))
        return (F.relu(scores) @ v).transpose(1, 2).flatten(2)


def init_inputs(n_embd, n_head, max_seqlen):
    return [n_embd, n_head, max_seqlen]


def inputs(make, batch_size, length, n_embd):
    return call(make.floats(batch_size, length, n_embd))


class PositiveBlockedKeys(Model):
    """Keys in blocks of eight, hidden scores multiplied by zero after the ReLU."""

    def forward(self, x):
        q, k, v = self.heads(x)
        visible = self.bias[:, :, : x.shape[1], : x.shape[1]]
        blocks = zip(*(t.split(8, dim=2) for t in (k, v)), visible.split(8, dim=3), strict=True)
        result = sum(((q / math.sqrt(q.shape[-1])) @ keys.mT).relu() * seen @ values for keys, values, seen in blocks)
        return result.transpose(1, 2).flatten(2)


class NegativeProjected(Model):
    """Sends the result through `c_proj`, as attention usually does."""

    def forward(self, x):
        return self.c_proj(super().forward(x))


class NegativeSoftmax(Model):
    """Takes the softmax."""

    def forward(self, x):
        return F.scaled_dot_product_attention(*self.heads(x), is_causal=True).transpose(1, 2).flatten(2)


class NegativeSeesEverything(Model):
    """Leaves the mask out."""

    def forward(self, x):
        q, k, v = self.heads(x)
        return ((q @ k.mT / math.sqrt(k.shape[-1])).relu() @ v).transpose(1, 2).flatten(2)


class NegativeUnscaled(Model):
    """Forgets the factor 1 / sqrt(d)."""

    def forward(self, x):
        return super().forward(x) * (x.shape[-1] // self.n_head) ** 0.5
