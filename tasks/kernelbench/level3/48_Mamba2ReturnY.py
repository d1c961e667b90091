"""State-space layer of Mamba-2, in blocks: the outputs.

`Model(batch_size, seq_length, n_heads, d_head, d_state, block_len=64)`; `block_len` divides `seq_length`. It has the
parameters `A` of shape `(batch_size, seq_length, n_heads)`, `B` and `C` of shape
`(batch_size, seq_length, n_heads, d_state)`, made in this order by `torch.randn`.

`forward(X, initial_states=None)` takes `X` of shape `(batch_size, seq_length, n_heads, d_head)`, float32, and
possibly the states before the first step, `(batch_size, 1, n_heads, d_head, d_state)`; `None` stands for zeros, and
this task gives none.

For each batch element and head, a state `S` of shape `(d_head, d_state)` runs through the sequence: step `t` computes
`S = exp(A_t) S + X_t B_tᵀ` and the output `Y_t = S C_t`. The result holds all outputs, in the shape of `X`. `A` is of
both signs, so that states grow as well as fade.

The reference does the same block by block. Inside a block, `Y_t` is the sum over `s ≤ t` of
`exp(A_{s+1} + ... + A_t) (C_t · B_s) X_s`; what each block adds to the state is carried from block to block; and the
state at a block's start adds `exp(A_first + ... + A_t) S C_t`.
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
    """Judges each output vector relative to the largest root mean square among itself and its neighbours in time.

    Sizes range over many powers of ten: relative to the size of all results only the few largest would be judged. A
    vector that is smaller than its neighbours is so by cancellation.
    """

    def compare(self, call, results, expected, truth):
        sizes = truth.square().mean(-1).sqrt().transpose(1, 2)
        sizes = F.max_pool1d(sizes, kernel_size=5, stride=1, padding=2).transpose(1, 2).unsqueeze(-1)
        sizes = sizes.clamp(min=torch.finfo(torch.float32).tiny)
        result, expected = ((t / sizes).to(expected.dtype) for t in (results[0], expected))
        return super().compare(call, [result], expected, truth / sizes)


# Errors concentrate where C · B cancels: a typical error is none of theirs.
CONTRACT = EachByItsOwnSize(growth=4)


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
        # In the equations: batch b, block c, step l and s in a block, head h, channel p, state n, block boundary z.
        X, A, B, C = (t.unflatten(1, (-1, self.block_len)) for t in (X, self.A, self.B, self.C))
        A = A.permute(0, 3, 1, 2)
        A_total = A.cumsum(-1)

        scores = torch.einsum("bclhn,bcshn->bhcls", C, B) * segment_sums(A).exp()
        inside = torch.einsum("bhcls,bcshp->bclhp", scores, X)

        to_end = torch.exp(A_total[..., -1:] - A_total).permute(0, 2, 3, 1)
        added = torch.einsum("bclhn,bclhp->bchpn", B * to_end.unsqueeze(-1), X)
        if initial_states is None:
            initial_states = torch.zeros_like(added[:, :1])
        added = torch.cat([initial_states, added], dim=1)
        carry = segment_sums(F.pad(A_total[..., -1], (1, 0))).exp()
        states = torch.einsum("bhzc,bchpn->bzhpn", carry, added)[:, :-1]

        from_start = A_total.exp().permute(0, 2, 3, 1)
        across = torch.einsum("bclhn,bchpn->bclhp", C * from_start.unsqueeze(-1), states)
        return (inside + across).flatten(1, 2)


def init_inputs(batch_size, seq_length, n_heads, d_head, d_state, block_len):
    return [batch_size, seq_length, n_heads, d_head, d_state, block_len]


def inputs(make, batch_size, seq_length, n_heads, d_head):
    return call(make.floats(batch_size, seq_length, n_heads, d_head))


class PositiveStepByStep(Model):
    """The recurrence as it is defined."""

    def forward(self, X, initial_states=None):
        state, outputs = 0, []
        for x, a, b, c in zip(*(t.unbind(1) for t in (X, self.A, self.B, self.C)), strict=True):
            state = state * a.exp()[..., None, None] + x.unsqueeze(3) * b.unsqueeze(2)
            outputs.append((state * c.unsqueeze(2)).sum(3))
        return torch.stack(outputs, dim=1)


class NegativeBlocksApart(PositiveStepByStep):
    """Starts each block from a state of zeros."""

    def forward(self, X, initial_states=None):
        state, outputs = 0, []
        for t, x in enumerate(X.unbind(1)):
            state = 0 if t % self.block_len == 0 else state
            state = state * self.A[:, t].exp()[..., None, None] + x.unsqueeze(3) * self.B[:, t].unsqueeze(2)
            outputs.append((state * self.C[:, t].unsqueeze(2)).sum(3))
        return torch.stack(outputs, dim=1)


class NegativeLinearDecay(Model):
    """Takes `A` itself for the factor of the state, without the exponential."""

    def forward(self, X, initial_states=None):
        state, outputs = 0, []
        for x, a, b, c in zip(*(t.unbind(1) for t in (X, self.A, self.B, self.C)), strict=True):
            state = state * a[..., None, None] + x.unsqueeze(3) * b.unsqueeze(2)
            outputs.append((state * c.unsqueeze(2)).sum(3))
        return torch.stack(outputs, dim=1)


class NegativeDecaysNewInput(Model):
    """Lets the step's own input decay, too."""

    def forward(self, X, initial_states=None):
        return super().forward(X * self.A.exp().unsqueeze(3))
