"""A product of each expert's rows with that expert's weights: one launch for all experts of a layer.

`grouped_gemm(x, w, offsets)` is a new contiguous bfloat16 tensor `(M, N)`: its rows `offsets[e]` to `offsets[e + 1] - 1` are the same rows of `x`,
times `w[e]ᵀ`.

- `x`: bfloat16 `(M, K)`, rows in the order of their experts;
- `w`: bfloat16 `(E, N, K)`;
- `offsets`: int32 `(E + 1,)`, on the device, ascending, from 0 to `M`. Some experts have no rows, one may have all of them.

Products are added up in float32, and sums are rounded to bfloat16 once. `M`, `N`, `K` ≥ 1 need not be multiples of anything. All arguments are
contiguous.

Sizes: gate and up projections of Mixtral 8x7B (8 experts, 4096 to 2 · 14336), Qwen3 30B-A3B (128 experts, 2048 to 2 · 768) and DeepSeek-V3 on
eight GPUs (32 experts each, 7168 to 2 · 2048), by their model cards; `rows` are the tokens of a decode batch or a prefill, times the experts of each.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "bfloat16"
TAGS = ("moe", "matmul", "tensor-core", "bf16", "inference")
DISTRIBUTIONS = ("standard", "uniform", "outliers", "small", "wide", "zeros")

CASES = [
    dict(rows=37, experts=4, hidden=64, inner=45),
    dict(rows=5, experts=8, hidden=70, inner=33),
    dict(rows=150, experts=3, hidden=33, inner=20),
    dict(rows=1, experts=1, hidden=1, inner=1),
    dict(rows=2, experts=17, hidden=515, inner=9),
    dict(rows=65, experts=5, hidden=1030, inner=7),
    dict(rows=40, experts=6, hidden=48, inner=64, one=True),
    dict(rows=21, experts=2, hidden=24, inner=130),
]

SIZES = [
    dict(rows=8, experts=128, hidden=2048, inner=1536),
    dict(rows=128, experts=8, hidden=4096, inner=28672),
    dict(rows=2048, experts=128, hidden=2048, inner=1536),
    dict(rows=2048, experts=32, hidden=7168, inner=4096),
    dict(rows=16384, experts=8, hidden=4096, inner=28672),
    dict(rows=32768, experts=32, hidden=7168, inner=4096),
]
WEIGHTS = [1, 2, 3, 2, 2, 2]

CONTRACT = Close(strides="contiguous")


def grouped_gemm(x, w, offsets):
    ends = offsets.tolist()
    parts = [x[ends[e] : ends[e + 1]] @ w[e].mT for e in range(len(w)) if ends[e] < ends[e + 1]]
    return torch.cat(parts)


def inputs(make, rows, experts, hidden, inner, one=False):
    """Some experts are more popular than others. `one`: all rows are the last one's."""
    share = make.plain(experts).float().exp()
    drawn = make.plain(rows, low=0.0, high=1.0, dtype=torch.float32) * share.sum()
    chosen = torch.searchsorted(share.cumsum(0), drawn).clamp(max=experts - 1)
    chosen = torch.full_like(chosen, experts - 1) if one else chosen
    offsets = torch.zeros(experts + 1, dtype=torch.int32, device=make.device)
    offsets[1:] = torch.bincount(chosen, minlength=experts).cumsum(0)
    return call(make.floats(rows, hidden), make.plain(experts, inner, hidden) * hidden**-0.5, offsets)


def _of_rows(offsets, rows):
    """The expert of each row."""
    return torch.searchsorted(offsets[1:].long(), torch.arange(rows, device=offsets.device), right=True)


def positive_row_by_row(x, w, offsets):
    """A product of a matrix and a vector for each row, in float32."""
    each = w[_of_rows(offsets, len(x))].float()
    return torch.einsum("mnk,mk->mn", each, x.float()).to(x.dtype)


def negative_next_expert_from_the_end(x, w, offsets):
    """A row that ends an expert's range is taken for the next one's."""
    last = torch.searchsorted(offsets[1:].long(), torch.arange(len(x), device=x.device) + 1, right=True)
    each = w[last.clamp(max=len(w) - 1)].float()
    return torch.einsum("mnk,mk->mn", each, x.float()).to(x.dtype)


def negative_expert_of_the_tile(x, w, offsets):
    """Tiles of 16 rows that begin at multiples of 16: all rows have the expert of the first."""
    of_row = _of_rows(offsets, len(x))
    each = w[of_row[torch.arange(len(x), device=x.device) // 16 * 16]].float()
    return torch.einsum("mnk,mk->mn", each, x.float()).to(x.dtype)


def negative_untransposed_weights(x, w, offsets):
    return grouped_gemm(x, w.mT.reshape(w.shape), offsets)


def negative_equal_shares(x, w, offsets):
    """Gives every expert as many rows."""
    of_row = torch.arange(len(x), device=x.device) * len(w) // len(x)
    return torch.einsum("mnk,mk->mn", w[of_row].float(), x.float()).to(x.dtype)


def negative_missing_k_tail(x, w, offsets):
    """Leaves out the last columns when K is no multiple of 64."""
    whole = max(1, x.shape[1] // 64 * 64)
    return grouped_gemm(x[:, :whole], w[..., :whole], offsets)


def negative_rounded_blocks(x, w, offsets):
    """Rounds the running sum to bfloat16 after every 16 products."""
    each, total = w[_of_rows(offsets, len(x))].float(), 0
    for a, b in zip(x.float().split(16, -1), each.split(16, -1), strict=True):
        total = (total + torch.einsum("mnk,mk->mn", b, a)).to(x.dtype).float()
    return total.to(x.dtype)
