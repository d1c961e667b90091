"""State-space layer of Mamba-2, in blocks: the state after the last step.

`Model(batch_size, seq_length, n_heads, d_head, d_state, block_len=64)`; `block_len` divides `seq_length`. It has the
parameters `A` of shape `(batch_size, seq_length, n_heads)`, `B` and `C` of shape
`(batch_size, seq_length, n_heads, d_state)`, made in this order by `torch.randn`. `C`, which would read outputs from
the states, is not used.

`forward(X, initial_states=None)` takes `X` of shape `(batch_size, seq_length, n_heads, d_head)`, float32, and
possibly the states before the first step, `(batch_size, 1, n_heads, d_head, d_state)`; `None` stands for zeros, and
this task gives none.

For each batch element and head, a state `S` of shape `(d_head, d_state)` runs through the sequence: step `t` computes
`S = exp(A_t) S + X_t B_tᵀ`. The result holds the states after the last step,
`(batch_size, n_heads, d_head, d_state)`. `A` is of both signs, so that states grow as well as fade.

The reference does the same block by block: step `s` adds `exp(A_{s+1} + ... + A_last) X_s B_sᵀ` to the state at the
end of its block, and these sums are carried from block to block.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("scan", "matmul")
DTYPE = "float32"

PUBLISHED = dict(batch_size=2048, seq_length=128, n_heads=8, d_head=64, d_state=16, block_len=64)
SCALED = dict(batch_size=3, seq_length=15, n_heads=4, d_head=7, d_state=5, block_len=5)


class EachByItsOwnSize(Close):
    """Judges each state matrix relative to its own root mean square.

    Sizes range over many powers of ten: relative to the size of all results only the few largest would be judged.
    """

    def compare(self, call, results, expected, truth):
        size = truth.square().mean((-2, -1), keepdim=True).sqrt().clamp(min=torch.finfo(torch.float32).tiny)
        result, expected = ((t / size).to(expected.dtype) for t in (results[0], expected))
        return super().compare(call, [result], expected, truth / size)


CONTRACT = EachByItsOwnSize()


def segment_sums(a):
    """Sums over stretches of the last dimension: entry `i, j` holds `a[j + 1] + ... + a[i]`, minus infinity above."""
    total = a.cumsum(-1)
    sums = total.unsqueeze(-1) - total.unsqueeze(-2)
    visible = torch.ones_like(sums, dtype=torch.bool).tril()
    return sums.masked_fill(~visible, float("-inf"))


class Model(nn.Module):
    def __init__(self, batch_size, seq_length, n_heads, d_head, d_state, block_len=64):
        super().__init__()
        self.block_len = block_len
        self.A = nn.Parameter(torch.randn(batch_size, seq_length, n_heads))
        self.B = nn.Parameter(torch.randn(batch_size, seq_length, n_heads, d_state))
        self.C = nn.Parameter(torch.randn(batch_size, seq_length, n_heads, d_state))

    def forward(self, X, initial_states=None):
        # In the equations: batch b, block c, step l in a block, head h, channel p, state n, block boundary z.
        X, A, B = (t.unflatten(1, (-1, self.block_len)) for t in (X, self.A, self.B))
        A_total = A.permute(0, 3, 1, 2).cumsum(-1)

        to_end = torch.exp(A_total[..., -1:] - A_total).permute(0, 2, 3, 1)
        added = torch.einsum("bclhn,bclhp->bchpn", B * to_end.unsqueeze(-1), X)
        if initial_states is None:
            initial_states = torch.zeros_like(added[:, :1])
        added = torch.cat([initial_states, added], dim=1)
        carry = segment_sums(F.pad(A_total[..., -1], (1, 0))).exp()
        return torch.einsum("bhzc,bchpn->bzhpn", carry, added)[:, -1]


def init_inputs(batch_size, seq_length, n_heads, d_head, d_state, block_len):
    return [batch_size, seq_length, n_heads, d_head, d_state, block_len]


def inputs(make, batch_size, seq_length, n_heads, d_head):
    return call(make.floats(batch_size, seq_length, n_heads, d_head))


class PositiveStepByStep(Model):
    """The recurrence as it is defined."""

    def forward(self, X, initial_states=None):
        state = 0
        for x, a, b in zip(*(t.unbind(1) for t in (X, self.A, self.B)), strict=True):
            state = state * a.exp()[..., None, None] + x.unsqueeze(3) * b.unsqueeze(2)
        return state


class NegativeLastBlock(Model):
    """Forgets what the blocks before the last one left."""

    def forward(self, X, initial_states=None):
        state = 0
        for t in range(X.shape[1] - self.block_len, X.shape[1]):
            new = X[:, t].unsqueeze(3) * self.B[:, t].unsqueeze(2)
            state = state * self.A[:, t].exp()[..., None, None] + new
        return state


class NegativeDecaysNewInput(Model):
    """Lets the step's own input decay, too."""

    def forward(self, X, initial_states=None):
        return super().forward(X * self.A.exp().unsqueeze(3))


class NegativeStateMajor(Model):
    """Lays the state out with its two dimensions swapped in memory, but not in shape."""

    def forward(self, X, initial_states=None):
        state = super().forward(X)
        return state.mT.reshape(state.shape)
