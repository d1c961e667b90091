"""Rotary position embedding of queries and keys, in the half-split layout of Llama and Qwen (GPT-NeoX's).

`rope_half(q, k, positions, cos_sin)` returns `(q', k')`, new contiguous tensors of the shapes and dtypes of `q` and `k`:

- `q`: bfloat16 `(T, H, D)`, `k`: bfloat16 `(T, G, D)`, with `H` query heads and `G` key heads;
- `positions`: int64 `(T,)`, where each token is in its sequence, in no order, `0 ≤ positions < P`;
- `cos_sin`: float32 `(P, R)`, a table: in row `p`, columns `0 … R/2-1` are `cos(p·θ_j)`, columns `R/2 … R-1` are `sin(p·θ_j)`. `R`
  is even, and at most `D`.

Of each head, element `j` is rotated with element `j + R/2`, for `j < R/2`:

    x'[j]       = x[j] · cos_j - x[j + R/2] · sin_j
    x'[j + R/2] = x[j + R/2] · cos_j + x[j] · sin_j

Elements from `R` on are copied. Arithmetic is float32, rounded to bfloat16 once. All arguments are contiguous. `T ≥ 1`.

Sizes: heads of Llama 3 8B (32 and 8, 128 each) and 70B (64 and 8), Qwen2.5 7B (28 and 4) and Phi-2 (32 and 32 of 80, 32 of them
rotated), by their model cards; tables of 8192 positions.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "bfloat16"
TAGS = ("embedding", "elementwise", "memory-bound", "bf16", "inference")

CASES = [
    dict(tokens=5, heads=(4, 2), head=64),
    dict(tokens=3, heads=(7, 1), head=128),
    dict(tokens=17, heads=(2, 2), head=80, rotary=32),
    dict(tokens=1, heads=(1, 1), head=2),
    dict(tokens=33, heads=(3, 1), head=10),
    dict(tokens=2, heads=(28, 4), head=32),
    dict(tokens=13, heads=(5, 5), head=34, rotary=30),
    dict(tokens=1, heads=(8, 2), head=96),
]

SIZES = [
    dict(tokens=1, heads=(32, 8), head=128),
    dict(tokens=64, heads=(64, 8), head=128),
    dict(tokens=256, heads=(28, 4), head=128),
    dict(tokens=2048, heads=(32, 32), head=80, rotary=32),
    dict(tokens=8192, heads=(32, 8), head=128),
    dict(tokens=16384, heads=(64, 8), head=128),
]
WEIGHTS = [1, 2, 3, 1, 2, 3]

CONTRACT = Close(strides="contiguous")


def _single(x):
    return x.to(torch.promote_types(x.dtype, torch.float32))


def _rotated(x, cos, sin):
    half = cos.shape[-1]
    low, high, rest = _single(x[..., :half]), _single(x[..., half : 2 * half]), x[..., 2 * half :]
    pair = torch.cat((low * cos - high * sin, high * cos + low * sin), -1)
    return torch.cat((pair.to(x.dtype), rest), -1)


def rope_half(q, k, positions, cos_sin):
    cos, sin = cos_sin[positions].unsqueeze(1).chunk(2, -1)
    return _rotated(q, cos, sin), _rotated(k, cos, sin)


THETA, TABLE = 10000.0, 8192


def inputs(make, tokens, heads, head, rotary=None):
    """The table is that of models: θ_j = 10000^(-2j/R)."""
    rotary = rotary or head
    frequency = THETA ** (-torch.arange(0, rotary, 2, device=make.device, dtype=torch.float64) / rotary)
    angle = torch.outer(torch.arange(TABLE, device=make.device, dtype=torch.float64), frequency)
    table = torch.cat((angle.cos(), angle.sin()), -1).float()
    positions = make.ints(tokens, low=0, high=TABLE)
    return call(make.floats(tokens, heads[0], head), make.floats(tokens, heads[1], head), positions, table)


def positive_complex(q, k, positions, cos_sin):
    """A product of complex numbers."""
    cos, sin = cos_sin[positions].unsqueeze(1).chunk(2, -1)
    turn, half = torch.complex(cos, sin), cos.shape[-1]

    def rotated(x):
        product = torch.complex(x[..., :half].float(), x[..., half : 2 * half].float()) * turn
        return torch.cat((product.real.to(x.dtype), product.imag.to(x.dtype), x[..., 2 * half :]), -1)

    return rotated(q), rotated(k)


def negative_interleaved(q, k, positions, cos_sin):
    """The other layout: neighbours are a pair."""
    cos, sin = cos_sin[positions].unsqueeze(1).chunk(2, -1)
    width = 2 * cos.shape[-1]

    def rotated(x):
        even, odd = x[..., :width:2].float(), x[..., 1:width:2].float()
        pair = torch.stack((even * cos - odd * sin, odd * cos + even * sin), -1).flatten(-2)
        return torch.cat((pair.to(x.dtype), x[..., width:]), -1)

    return rotated(q), rotated(k)


def negative_turned_back(q, k, positions, cos_sin):
    cos, sin = cos_sin[positions].unsqueeze(1).chunk(2, -1)
    return _rotated(q, cos, -sin), _rotated(k, cos, -sin)


def negative_positions_in_order(q, k, positions, cos_sin):
    """Takes a token's row for its position."""
    return rope_half(q, k, torch.arange(q.shape[0], device=q.device), cos_sin)


def negative_keys_left(q, k, positions, cos_sin):
    return rope_half(q, k, positions, cos_sin)[0], k.clone()


def negative_sin_by_cos(q, k, positions, cos_sin):
    sin, cos = cos_sin[positions].unsqueeze(1).chunk(2, -1)
    return _rotated(q, cos, sin), _rotated(k, cos, sin)


def negative_bf16_table(q, k, positions, cos_sin):
    """Rounds the table, and products, to bfloat16."""
    cos, sin = cos_sin[positions].unsqueeze(1).to(q.dtype).chunk(2, -1)

    def rotated(x):
        half = cos.shape[-1]
        low, high, rest = x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]
        return torch.cat((low * cos - high * sin, high * cos + low * sin, rest), -1)

    return rotated(q), rotated(k)
