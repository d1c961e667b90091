"""Transformer block of GPT: causal self-attention and a perceptron, each behind a layer norm and beside a shortcut.

`Model(n_embd, n_head, attn_pdrop, resid_pdrop, max_seqlen)`; `n_head` divides `n_embd`. It has

- `ln_1` and `ln_2`, layer norms over `n_embd` channels (eps 1e-5, biased variance, weight and bias);
- `attn`, causal self-attention: the linear layers `c_attn`, `n_embd` to `3 · n_embd`, and `c_proj`, `n_embd` to
  `n_embd`, and the buffer `bias`, the lower triangle of ones of shape `(1, 1, max_seqlen, max_seqlen)`;
- `mlp`, an `nn.ModuleDict` with the linear layers `c_fc`, `n_embd` to `4 · n_embd`, and `c_proj`, `4 · n_embd` to
  `n_embd`.

Linear layers have a bias and PyTorch's default initialisation. `attn_pdrop` and `resid_pdrop` are probabilities of
dropout, of the attention weights and of both branches' results; they are 0 in this task: no dropout takes place.

`forward(x)` takes `x` of shape `(batch, length, n_embd)`, float32, `length ≤ max_seqlen`, and computes
`y = x + attn(ln_1(x))` and then `y + mlp(ln_2(y))`.

- Attention: `c_attn` gives queries, keys and values, in this order, `n_embd` channels each; head `k` takes the
  channels from `k d` to `(k + 1) d`, `d = n_embd / n_head`. Each head computes `softmax(q kᵀ / sqrt(d)) v`, in which
  position `i` sees the positions `j ≤ i`. The heads, side by side again, go through `c_proj`.
- Perceptron: `c_proj(gelu(c_fc(·)))` with `gelu(u) = u / 2 · (1 + tanh(sqrt(2 / π) · (u + 0.044715 u³)))`.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("attention", "perceptron")
DTYPE = "float32"

PUBLISHED = dict(
    batch_size=128, length=512, n_embd=768, n_head=8, attn_pdrop=0.0, resid_pdrop=0.0, max_seqlen=1024
)  # fmt: skip
SCALED = dict(
    batch_size=2, length=19, n_embd=36, n_head=4, attn_pdrop=0.0, resid_pdrop=0.0, max_seqlen=23
)  # fmt: skip

CONTRACT = Close()


class CausalSelfAttention(nn.Module):
    """Each position attends to itself and to those before it."""

    def __init__(self, n_embd, n_head, attn_pdrop, resid_pdrop, max_seqlen):
        super().__init__()
        self.n_head = n_head
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)
        self.attn_dropout = nn.Dropout(attn_pdrop)
        self.resid_dropout = nn.Dropout(resid_pdrop)
        self.register_buffer("bias", torch.tril(torch.ones(1, 1, max_seqlen, max_seqlen)))

    def forward(self, x):
        length = x.shape[1]
        q, k, v = (t.unflatten(2, (self.n_head, -1)).transpose(1, 2) for t in self.c_attn(x).chunk(3, dim=2))
        scores = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])
        scores = scores.masked_fill(self.bias[:, :, :length, :length] == 0, float("-inf"))
        weights = self.attn_dropout(F.softmax(scores, dim=-1))
        y = (weights @ v).transpose(1, 2).flatten(2)
        return self.resid_dropout(self.c_proj(y))


class NewGELU(nn.Module):
    """The approximation of the Gaussian error linear unit by tanh."""

    def forward(self, x):
        return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))


class Model(nn.Module):
    def __init__(self, n_embd, n_head, attn_pdrop, resid_pdrop, max_seqlen):
        super().__init__()
        self.ln_1 = nn.LayerNorm(n_embd)
        self.attn = CausalSelfAttention(n_embd, n_head, attn_pdrop, resid_pdrop, max_seqlen)
        self.ln_2 = nn.LayerNorm(n_embd)
        self.mlp = nn.ModuleDict(
            dict(
                c_fc=nn.Linear(n_embd, 4 * n_embd),
                c_proj=nn.Linear(4 * n_embd, n_embd),
                act=NewGELU(),
                dropout=nn.Dropout(resid_pdrop),
            )
        )

    def feed_forward(self, x):
        mlp = self.mlp
        return mlp.dropout(mlp.c_proj(mlp.act(mlp.c_fc(x))))

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.feed_forward(self.ln_2(x))


def init_inputs(n_embd, n_head, attn_pdrop, resid_pdrop, max_seqlen):
    return [n_embd, n_head, attn_pdrop, resid_pdrop, max_seqlen]


def inputs(make, batch_size, length, n_embd):
    return call(make.floats(batch_size, length, n_embd))


class PositiveFused(Model):
    """Fused attention, layer norms from sums of squares, and the GELU by the logistic function."""

    @staticmethod
    def normalize(norm, x):
        center = x - x.mean(-1, keepdim=True)
        return center * (center.square().mean(-1, keepdim=True) + norm.eps).rsqrt() * norm.weight + norm.bias

    def forward(self, x):
        projected = self.attn.c_attn(self.normalize(self.ln_1, x)).chunk(3, dim=2)
        q, k, v = (t.unflatten(2, (self.attn.n_head, -1)).transpose(1, 2) for t in projected)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        x = x + self.attn.c_proj(y)
        u = self.mlp.c_fc(self.normalize(self.ln_2, x))
        return x + self.mlp.c_proj(u * torch.sigmoid(math.sqrt(8.0 / math.pi) * (u + 0.044715 * u * u * u)))


class NegativeExactGelu(Model):
    """Takes the exact GELU, which differs by up to 5e-4."""

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp.c_proj(F.gelu(self.mlp.c_fc(self.ln_2(x))))


class NegativeNormsBehind(Model):
    """Normalises behind the sums, as the first transformers did."""

    def forward(self, x):
        x = self.ln_1(x + self.attn(x))
        return self.ln_2(x + self.feed_forward(x))


class NegativeParallel(Model):
    """Feeds both branches with the block's input."""

    def forward(self, x):
        return x + self.attn(self.ln_1(x)) + self.feed_forward(self.ln_2(x))


class NegativeSeesEverything(Model):
    """Leaves the mask out."""

    def forward(self, x):
        self.attn.bias.fill_(1)
        return super().forward(x)
