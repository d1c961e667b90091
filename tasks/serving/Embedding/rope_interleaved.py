"""Rotary position embedding of queries and keys, in the interleaved layout, of the last elements of a head, as in DeepSeek-V3.

`rope_interleaved(q, k, positions, cos_sin)` returns `(q', k')`, new contiguous tensors of the shapes and dtypes of `q` and `k`:

- `q`: bfloat16 `(T, H, D)`, `k`: bfloat16 `(T, G, E)`, with `H` query heads and `G` key heads, whose sizes differ;
- `positions`: int64 `(T,)`, where each token is in its sequence, in no order, `0 ≤ positions < P`;
- `cos_sin`: float32 `(P, R)`, a table: in row `p`, columns `0 … R/2-1` are `cos(p·θ_j)`, columns `R/2 … R-1` are `sin(p·θ_j)`. `R`
  is even, and at most `D` and `E`, which are even, too.

The last `R` elements of each head, `z`, are rotated in pairs of neighbours, for `j < R/2`:

    z'[2j]     = z[2j] · cos_j - z[2j + 1] · sin_j
    z'[2j + 1] = z[2j + 1] · cos_j + z[2j] · sin_j

The elements before them are copied. Arithmetic is float32, rounded to bfloat16 once. All arguments are contiguous. `T ≥ 1`.

Sizes: DeepSeek-V3 and DeepSeek-V2-Lite (128 and 16 query heads of 192, one key head of 64, 64 rotated), by their model cards; tables of
8192 positions.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "bfloat16"
TAGS = ("embedding", "elementwise", "memory-bound", "bf16", "inference")

CASES = [
    dict(tokens=5, heads=(4, 1), sizes=(96, 32), rotary=32),
    dict(tokens=3, heads=(7, 1), sizes=(192, 64), rotary=64),
    dict(tokens=17, heads=(2, 2), sizes=(80, 80), rotary=32),
    dict(tokens=1, heads=(1, 1), sizes=(2, 2), rotary=2),
    dict(tokens=33, heads=(3, 1), sizes=(10, 12), rotary=6),
    dict(tokens=2, heads=(28, 1), sizes=(48, 16), rotary=16),
    dict(tokens=13, heads=(5, 5), sizes=(34, 30), rotary=30),
    dict(tokens=1, heads=(8, 2), sizes=(256, 256), rotary=64),
]

SIZES = [
    dict(tokens=1, heads=(128, 1), sizes=(192, 64), rotary=64),
    dict(tokens=64, heads=(128, 1), sizes=(192, 64), rotary=64),
    dict(tokens=256, heads=(128, 1), sizes=(192, 64), rotary=64),
    dict(tokens=2048, heads=(16, 1), sizes=(192, 64), rotary=64),
    dict(tokens=4096, heads=(128, 1), sizes=(192, 64), rotary=64),
    dict(tokens=8192, heads=(128, 1), sizes=(192, 64), rotary=64),
]
WEIGHTS = [1, 2, 3, 1, 2, 3]

CONTRACT = Close(strides="contiguous")


def _single(x):
    return x.to(torch.promote_types(x.dtype, torch.float32))


def _rotated(x, cos, sin):
    first = x.shape[-1] - 2 * cos.shape[-1]
    even, odd = _single(x[..., first::2]), _single(x[..., first + 1 :: 2])
    pair = torch.stack((even * cos - odd * sin, odd * cos + even * sin), -1).flatten(-2)
    return torch.cat((x[..., :first], pair.to(x.dtype)), -1)


def rope_interleaved(q, k, positions, cos_sin):
    cos, sin = cos_sin[positions].unsqueeze(1).chunk(2, -1)
    return _rotated(q, cos, sin), _rotated(k, cos, sin)


THETA, TABLE = 10000.0, 8192


def inputs(make, tokens, heads, sizes, rotary):
    """The table is that of models: θ_j = 10000^(-2j/R)."""
    frequency = THETA ** (-torch.arange(0, rotary, 2, device=make.device, dtype=torch.float64) / rotary)
    angle = torch.outer(torch.arange(TABLE, device=make.device, dtype=torch.float64), frequency)
    table = torch.cat((angle.cos(), angle.sin()), -1).float()
    positions = make.ints(tokens, low=0, high=TABLE)
    return call(make.floats(tokens, heads[0], sizes[0]), make.floats(tokens, heads[1], sizes[1]), positions, table)


def positive_complex(q, k, positions, cos_sin):
    """A product of complex numbers, as in DeepSeek's published code."""
    cos, sin = cos_sin[positions].unsqueeze(1).chunk(2, -1)
    turn = torch.complex(cos, sin)

    def rotated(x):
        first = x.shape[-1] - 2 * cos.shape[-1]
        pairs = torch.view_as_complex(x[..., first:].float().unflatten(-1, (-1, 2)).contiguous())
        return torch.cat((x[..., :first], torch.view_as_real(pairs * turn).flatten(-2).to(x.dtype)), -1)

    return rotated(q), rotated(k)


def negative_half_split(q, k, positions, cos_sin):
    """The other layout: elements half the width apart are a pair."""
    cos, sin = cos_sin[positions].unsqueeze(1).chunk(2, -1)

    def rotated(x):
        first = x.shape[-1] - 2 * cos.shape[-1]
        low, high = x[..., first:].float().chunk(2, -1)
        pair = torch.cat((low * cos - high * sin, high * cos + low * sin), -1)
        return torch.cat((x[..., :first], pair.to(x.dtype)), -1)

    return rotated(q), rotated(k)


def negative_first_elements(q, k, positions, cos_sin):
    """Rotates the first elements of a head, and copies the last."""
    cos, sin = cos_sin[positions].unsqueeze(1).chunk(2, -1)
    width = 2 * cos.shape[-1]
    return tuple(torch.cat((_rotated(x[..., :width], cos, sin), x[..., width:]), -1) for x in (q, k))


def negative_turned_back(q, k, positions, cos_sin):
    cos, sin = cos_sin[positions].unsqueeze(1).chunk(2, -1)
    return _rotated(q, cos, -sin), _rotated(k, cos, -sin)


def negative_positions_in_order(q, k, positions, cos_sin):
    """Takes a token's row for its position."""
    return rope_interleaved(q, k, torch.arange(q.shape[0], device=q.device), cos_sin)


def negative_keys_left(q, k, positions, cos_sin):
    return rope_interleaved(q, k, positions, cos_sin)[0], k.clone()


def negative_unsplit_table(q, k, positions, cos_sin):
    """Reads the table as if cosines and sines took turns."""
    row = cos_sin[positions].unsqueeze(1)
    cos, sin = row[..., ::2], row[..., 1::2]
    return _rotated(q, cos, sin), _rotated(k, cos, sin)
