"""The first half of a gated MLP, GeGLU, with the weights of both projections in one matrix, row by row in turn.

`geglu(x, w)` is `gelu(x @ w_gateᵀ) · (x @ w_upᵀ)`, a new contiguous bfloat16 tensor `(T, N)`, with the GELU by tanh,
`gelu(g) = g / 2 · (1 + tanh(√(2/π) · (g + 0.044715 · g³)))`.

- `x`: bfloat16 `(T, K)`, a row a token;
- `w`: bfloat16 `(2N, K)`: its even rows are `w_gate`, its odd rows `w_up`, so that a tile of the product has both of each column.

Products are added up in float32. Both projections may be rounded to bfloat16, or stay float32 up to the result. `T`, `N`, `K` ≥ 1
need not be multiples of anything. Both arguments are contiguous.

Sizes: hidden and intermediate sizes of Gemma 7B (3072, 24576), Gemma 2 9B (3584, 14336) and Gemma 3 4B (2560, 10240), by their model cards; the
interleaved rows are gpt-oss's. `tokens` is a decode batch or a chunk of a prefill.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "bfloat16"
TAGS = ("activation", "matmul", "tensor-core", "bf16", "inference")
DISTRIBUTIONS = ("standard", "uniform", "outliers", "small", "zeros")

CASES = [
    dict(tokens=5, hidden=64, inner=33),
    dict(tokens=37, hidden=70, inner=45),
    dict(tokens=1, hidden=515, inner=17),
    dict(tokens=19, hidden=2050, inner=9),
    dict(tokens=16, hidden=32, inner=64),
    dict(tokens=130, hidden=24, inner=20),
    dict(tokens=3, hidden=1, inner=5),
    dict(tokens=1, hidden=2, inner=1),
    dict(tokens=2, hidden=129, inner=140),
]

SIZES = [
    dict(tokens=1, hidden=3584, inner=14336),
    dict(tokens=64, hidden=3072, inner=24576),
    dict(tokens=256, hidden=3584, inner=14336),
    dict(tokens=512, hidden=2560, inner=10240),
    dict(tokens=2048, hidden=3584, inner=14336),
    dict(tokens=8192, hidden=3072, inner=24576),
]
WEIGHTS = [1, 2, 3, 1, 2, 3]

CONTRACT = Close(strides="contiguous")


def geglu(x, w):
    both = F.linear(x, w)
    return F.gelu(both[:, ::2], approximate="tanh") * both[:, 1::2]


def inputs(make, tokens, hidden, inner):
    """Weights of such a size that the projections' are of the size of `x`."""
    return call(make.floats(tokens, hidden), make.plain(2 * inner, hidden) * hidden**-0.5)


def positive_split_k(x, w):
    """Four partial sums in float32, the GELU by the logistic function, nothing rounded before the end."""
    parts = zip(x.float().tensor_split(4, -1), w.float().tensor_split(4, -1), strict=True)
    both = sum(F.linear(a, b) for a, b in parts)
    gate, up = both[:, ::2], both[:, 1::2]
    return (gate * torch.sigmoid(1.5957691216057308 * (gate + 0.044715 * gate**3)) * up).to(x.dtype)


def negative_halves(x, w):
    """Takes the first half of the rows for the gate."""
    gate, up = F.linear(x, w).chunk(2, -1)
    return F.gelu(gate, approximate="tanh") * up


def negative_gate_and_up_swapped(x, w):
    both = F.linear(x, w)
    return F.gelu(both[:, 1::2], approximate="tanh") * both[:, ::2]


def negative_silu(x, w):
    both = F.linear(x, w)
    return F.silu(both[:, ::2]) * both[:, 1::2]


def negative_quick_gelu(x, w):
    both = F.linear(x, w).float()
    gate = both[:, ::2]
    return (gate * torch.sigmoid(1.702 * gate) * both[:, 1::2]).to(x.dtype)


def negative_gate_without_up(x, w):
    return F.gelu(F.linear(x, w)[:, ::2], approximate="tanh").contiguous()


def negative_missing_k_tail(x, w):
    """Leaves out the last columns when K is no multiple of 64."""
    whole = max(1, x.shape[1] // 64 * 64)
    return geglu(x[:, :whole], w[:, :whole])


def negative_rounded_blocks(x, w):
    """Rounds the running sum to bfloat16 after every 16 products."""
    total = 0
    for a, b in zip(x.float().split(16, -1), w.float().split(16, -1), strict=True):
        total = (total + F.linear(a, b)).to(x.dtype).float()
    return (F.gelu(total[:, ::2], approximate="tanh") * total[:, 1::2]).to(x.dtype)
