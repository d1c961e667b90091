"""The first half of a gated MLP, SwiGLU, with the weights of both projections in one matrix.

`swiglu(x, w)` is `silu(x @ w_gateᵀ) · (x @ w_upᵀ)`, with `silu(g) = g / (1 + exp(-g))`, a new contiguous bfloat16 tensor `(T, N)`.

- `x`: bfloat16 `(T, K)`, a row a token;
- `w`: bfloat16 `(2N, K)`: its first `N` rows are `w_gate`, the others `w_up`.

Products are added up in float32. Both projections may be rounded to bfloat16, or stay float32 up to the result. `T`, `N`, `K` ≥ 1
need not be multiples of anything. Both arguments are contiguous.

Sizes: hidden and intermediate sizes of Llama 3 8B (4096, 14336), Qwen2.5 7B (3584, 18944), Mixtral 8x7B's expert (4096, 14336) and Llama 3 70B on
eight GPUs (8192, 3584 of 28672 each), by their model cards; `tokens` is a decode batch or a chunk of a prefill.
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
    dict(tokens=1, hidden=4096, inner=14336),
    dict(tokens=64, hidden=8192, inner=3584),
    dict(tokens=256, hidden=4096, inner=14336),
    dict(tokens=512, hidden=3584, inner=18944),
    dict(tokens=2048, hidden=4096, inner=14336),
    dict(tokens=8192, hidden=4096, inner=14336),
]
WEIGHTS = [1, 2, 3, 1, 2, 3]

CONTRACT = Close(strides="contiguous")


def swiglu(x, w):
    gate, up = F.linear(x, w).chunk(2, -1)
    return F.silu(gate) * up


def inputs(make, tokens, hidden, inner):
    """Weights of such a size that the projections' are of the size of `x`."""
    return call(make.floats(tokens, hidden), make.plain(2 * inner, hidden) * hidden**-0.5)


def positive_split_k(x, w):
    """Four partial sums in float32, nothing rounded before the end."""
    parts = zip(x.float().tensor_split(4, -1), w.float().tensor_split(4, -1), strict=True)
    gate, up = sum(F.linear(a, b) for a, b in parts).chunk(2, -1)
    return (F.silu(gate) * up).to(x.dtype)


def negative_halves_swapped(x, w):
    gate, up = F.linear(x, w).chunk(2, -1)
    return F.silu(up) * gate


def negative_interleaved_rows(x, w):
    product = F.linear(x, w)
    return F.silu(product[:, ::2]) * product[:, 1::2]


def negative_sigmoid(x, w):
    gate, up = F.linear(x, w).chunk(2, -1)
    return torch.sigmoid(gate) * up


def negative_gelu(x, w):
    gate, up = F.linear(x, w).chunk(2, -1)
    return F.gelu(gate) * up


def negative_gate_without_up(x, w):
    return F.silu(F.linear(x, w).chunk(2, -1)[0])


def negative_missing_k_tail(x, w):
    """Leaves out the last columns when K is no multiple of 64."""
    whole = max(1, x.shape[1] // 64 * 64)
    return swiglu(x[:, :whole], w[:, :whole])


def negative_rounded_blocks(x, w):
    """Rounds the running sum to bfloat16 after every 16 products."""
    total = 0
    for a, b in zip(x.float().split(16, -1), w.float().split(16, -1), strict=True):
        total = (total + F.linear(a, b)).to(x.dtype).float()
    gate, up = total.chunk(2, -1)
    return (F.silu(gate) * up).to(x.dtype)
