import math

import torch
from torch import nn
from unsloth.kernels.geglu import geglu_approx_forward_kernel
from unsloth.kernels.layernorm import Fast_Layernorm


class CausalSelfAttention(nn.Module):
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
        weights = self.attn_dropout(torch.softmax(scores, dim=-1))
        return self.resid_dropout(self.c_proj((weights @ v).transpose(1, 2).flatten(2)))


class NewGELU(nn.Module):
    def forward(self, x):
        return geglu_approx_forward_kernel(x, torch.ones_like(x))


class LayerNorm(nn.LayerNorm):
    def forward(self, x):
        return Fast_Layernorm.apply(x, self.weight, self.bias, self.eps)


class ModelNew(nn.Module):
    def __init__(self, n_embd, n_head, attn_pdrop, resid_pdrop, max_seqlen):
        super().__init__()
        self.ln_1 = LayerNorm(n_embd)
        self.attn = CausalSelfAttention(n_embd, n_head, attn_pdrop, resid_pdrop, max_seqlen)
        self.ln_2 = LayerNorm(n_embd)
        self.mlp = nn.ModuleDict(
            dict(
                c_fc=nn.Linear(n_embd, 4 * n_embd),
                c_proj=nn.Linear(4 * n_embd, n_embd),
                act=NewGELU(),
                dropout=nn.Dropout(resid_pdrop),
            )
        )

    def forward(self, x):
        mlp = self.mlp
        x = x + self.attn(self.ln_1(x))
        return x + mlp.dropout(mlp.c_proj(mlp.act(mlp.c_fc(self.ln_2(x)))))
