"""Brings the tokens of a mixture of experts into the order of their experts.

`moe_permute(x, experts, count)` returns `(rows, offsets, places)`, three new contiguous tensors. Token `t` is wanted by `k` experts, `experts[t, 0]` to
`experts[t, k-1]`: these are the `T·k` pairs `i = t·k + s`.

- `places`: int32 `(T, k)`, where each pair goes: pairs are sorted by their expert, and those of one expert stay in the order of `i`;
- `rows`: bfloat16 `(T·k, D)`: row `places[t, s]` is a copy of `x[t]`;
- `offsets`: int32 `(count + 1,)`: the rows of expert `e` are `offsets[e]` to `offsets[e + 1] - 1`; the last one is `T·k`.

`x`: bfloat16 `(T, D)`; `experts`: int32 `(T, k)`, `0 ≤ experts < count`; both contiguous. The experts of a token differ. Some experts have no
tokens, one may have all of them. `T ≥ 1`, `D ≥ 1`.

Sizes: Mixtral 8x7B (4096; 2 of 8 experts), Qwen3 30B-A3B (2048; 8 of 128) and DeepSeek-V3 on eight GPUs (7168; 8 of 256, all of which are
sorted), by their model cards; `tokens` is a decode batch or a chunk of a prefill.
"""

import torch

from kbx.suite import Exact, call

DIFFICULTY = 3
DTYPE = "bfloat16"
TAGS = ("moe", "index", "memory-bound", "bf16", "inference")

CASES = [
    dict(tokens=5, hidden=64, count=8, k=2),
    dict(tokens=37, hidden=33, count=128, k=8),
    dict(tokens=19, hidden=130, count=6, k=3),
    dict(tokens=1, hidden=1, count=1, k=1),
    dict(tokens=33, hidden=20, count=60, k=4),
    dict(tokens=130, hidden=16, count=5, k=2),
    dict(tokens=17, hidden=48, count=9, k=1, one=True),
    dict(tokens=2, hidden=515, count=257, k=8),
]

SIZES = [
    dict(tokens=1, hidden=4096, count=8, k=2),
    dict(tokens=64, hidden=7168, count=256, k=8),
    dict(tokens=256, hidden=2048, count=128, k=8),
    dict(tokens=2048, hidden=4096, count=8, k=2),
    dict(tokens=4096, hidden=7168, count=256, k=8),
    dict(tokens=8192, hidden=7168, count=256, k=8),
]
WEIGHTS = [1, 2, 3, 1, 2, 3]

CONTRACT = Exact(strides="contiguous")


def moe_permute(x, experts, count: int):
    flat = experts.flatten()
    order = flat.argsort(stable=True)
    places = torch.empty_like(flat)
    places[order] = torch.arange(flat.numel(), dtype=flat.dtype, device=flat.device)
    offsets = torch.zeros(count + 1, dtype=torch.int32, device=x.device)
    offsets[1:] = torch.bincount(flat, minlength=count).cumsum(0)
    return x[order // experts.shape[1]], offsets, places.view(experts.shape)


def inputs(make, tokens, hidden, count, k, one=False):
    """Some experts are more popular than others. `one`: all tokens want the last one."""
    popular = make.plain(tokens, count) + make.plain(count)
    experts = popular.float().topk(k, -1).indices.to(torch.int32)
    return call(make.floats(tokens, hidden), torch.full_like(experts, count - 1) if one else experts, count)


def positive_by_counting(x, experts, count):
    """A pair's place is the number of pairs with smaller experts, and of earlier ones with its own."""
    flat = experts.flatten()
    hits = flat[:, None] == torch.arange(count, device=x.device)
    before = hits.cumsum(0)[torch.arange(flat.numel()), flat.long()] - 1
    offsets = torch.cat((hits.new_zeros(1, dtype=torch.int64), hits.sum(0).cumsum(0))).to(torch.int32)
    places = offsets[flat.long()] + before.to(torch.int32)
    rows = x.new_empty(flat.numel(), x.shape[1])
    rows[places.long()] = x.repeat_interleave(experts.shape[1], 0)
    return rows, offsets, places.view(experts.shape)


def negative_inverse_places(x, experts, count):
    """The pair of each row, in place of the row of each pair."""
    rows, offsets, _ = moe_permute(x, experts, count)
    return rows, offsets, experts.flatten().argsort(stable=True).to(torch.int32).view(experts.shape)


def negative_last_token_first(x, experts, count):
    """The pairs of an expert in any order, as atomic counters give it."""
    flat = experts.flatten()
    order = flat.numel() - 1 - flat.flip(0).argsort(stable=True)
    places = torch.empty_like(flat)
    places[order] = torch.arange(flat.numel(), dtype=flat.dtype, device=flat.device)
    return x[order // experts.shape[1]], moe_permute(x, experts, count)[1], places.view(experts.shape)


def negative_counts_for_offsets(x, experts, count):
    rows, offsets, places = moe_permute(x, experts, count)
    return rows, torch.cat((offsets[:1], offsets.diff())), places


def negative_ends_for_offsets(x, experts, count):
    """An inclusive sum where the exclusive one is wanted."""
    rows, offsets, places = moe_permute(x, experts, count)
    return rows, torch.cat((offsets[1:], offsets[-1:])), places


def negative_row_of_the_pair(x, experts, count):
    """Takes a pair's number, modulo the tokens, for its token."""
    _, offsets, places = moe_permute(x, experts, count)
    order = experts.flatten().argsort(stable=True)
    return x[order % x.shape[0]], offsets, places
