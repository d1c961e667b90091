"""Scaled dot-product attention, with an optional causal mask.

`attention(q, k, v, causal=False, softmax_scale=None, *, out=None)`

- `q`, `k` and `v` are of one shape, `(B, H, S, D)`, and one dtype, float32 or float16.
- `scores = softmax_scale · q @ kᵀ` with `softmax_scale = 1 / sqrt(D)` when it is `None`.
- `causal=True`: query `i` sees key `j` only if `j ≤ i`; every query therefore sees at least key 0.
- The softmax runs over the keys and subtracts each row's largest score first: scores of several hundred are ordinary.
- The result is `softmax(scores) @ v`, of shape `(B, H, S, D)` and `q`'s dtype.
- `out`: if given, a contiguous tensor of the result's shape and dtype; it is filled and returned.

`q`, `k` and `v` may be non-contiguous and `B` may be 0; sizes need not be multiples of anything. Float32 products and
sums are float32: TF32 and half precision are not allowed there. Float16 products are added up in float32; scores and
probabilities may be rounded to float16 or stay float32.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 5
DTYPE = "float32"
TAGS = ("attention", "softmax", "matmul")
MAGNITUDES = (-104, 56)

CASES = [
    dict(shape=(2, 2, 37, 16)),
    dict(shape=(1, 1, 45, 24), causal=True, out=True),
    dict(shape=(1, 3, 67, 32), causal=True, softmax_scale=0.125),
    dict(shape=(2, 2, 37, 64), dtype=torch.float16),
    dict(shape=(1, 2, 131, 32), causal=True, dtype=torch.float16),
    dict(shape=(1, 1, 1, 1)),
    dict(shape=(1, 2, 37, 16), causal=True, strided=True),
    dict(shape=(1, 2, 67, 32), causal=True, dtype=torch.float16, strided=True),
    dict(shape=(1, 2, 53, 32), causal=True, softmax_scale=0.5),
    dict(shape=(2, 1, 19, 40), softmax_scale=1.0),
    dict(shape=(0, 2, 8, 16)),
]

SIZES = [
    dict(shape=(1, 2, 64, 64)),
    dict(shape=(2, 8, 256, 64)),
    dict(shape=(2, 8, 1024, 64), causal=True),
    dict(shape=(4, 16, 2048, 64)),
]


def magnitude(q, k, v, causal=False, softmax_scale=None, *, out=None):
    """A score's rounding error, relative to the product of the norms, is a relative error of its probability."""
    scale = q.shape[-1] ** -0.5 if softmax_scale is None else softmax_scale
    longest = k.double().norm(dim=-1, keepdim=True).amax(-2, keepdim=True)
    score = scale * q.double().norm(dim=-1, keepdim=True) * longest
    return (1 + score) * v.double().abs().amax((-2, -1), keepdim=True)


CONTRACT = Close(scale=magnitude)


def attention(q, k, v, causal: bool = False, softmax_scale=None, *, out=None):
    scale = q.shape[-1] ** -0.5 if softmax_scale is None else softmax_scale
    scores = torch.matmul(q, k.transpose(-2, -1)) * scale
    if causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
        scores = scores.masked_fill(hidden, float("-inf"))
    return torch.matmul(torch.softmax(scores, dim=-1), v, out=out)


def inputs(make, shape, causal=False, softmax_scale=None, dtype=None, strided=False, out=False):
    """Float16 is drawn of size one where float32 is large: scores of such numbers exceed its range."""
    draw = make.plain if dtype and make.distribution in ("wide", "large") else make.floats
    q, k, v = (draw(*shape, dtype=dtype) for _ in range(3))
    if strided:
        q, k, v = make.strided(q), make.strided(k), make.strided(v)
    return call(
        q, k, v, causal=causal, softmax_scale=softmax_scale, out=torch.zeros_like(q.contiguous()) if out else None
    )


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_online_softmax(q, k, v, causal=False, softmax_scale=None, *, out=None):
    """Keys in blocks of eight, running maximum and sum in float32, as flash attention does."""
    dtype = q.dtype
    q, k, v = (t if dtype != torch.float16 else t.float() for t in (q, k, v))
    scale = q.shape[-1] ** -0.5 if softmax_scale is None else softmax_scale
    top = torch.full((*q.shape[:-1], 1), float("-inf"), device=q.device)
    total, acc = torch.zeros_like(top), torch.zeros(*q.shape[:-1], v.shape[-1], device=q.device)
    row = torch.arange(q.shape[-2], device=q.device)[:, None]
    for start in range(0, k.shape[-2], 8):
        keys, values = k[..., start : start + 8, :], v[..., start : start + 8, :]
        scores = (q * scale) @ keys.transpose(-2, -1)
        if causal:
            column = start + torch.arange(keys.shape[-2], device=q.device)
            scores = scores.masked_fill(column > row, float("-inf"))
        new_top = torch.maximum(top, scores.amax(-1, keepdim=True))
        p, fade = torch.exp(scores - new_top), torch.exp(top - new_top)
        total, acc, top = total * fade + p.sum(-1, keepdim=True), acc * fade + p @ values, new_top
    return _given((acc / total).to(dtype), out)


def _variant(q, k, v, causal, scale, out, hide=1, softmax=lambda s: torch.softmax(s, -1)):
    scores = torch.matmul(q, k.transpose(-2, -1)) * scale
    if causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(hide)
        scores = scores.masked_fill(hidden, float("-inf"))
    return _given(softmax(scores) @ v, out)


def negative_no_max_subtraction(q, k, v, causal=False, softmax_scale=None, *, out=None):
    def softmax(s):
        return s.exp() / s.exp().sum(-1, keepdim=True)

    return _variant(q, k, v, causal, softmax_scale or q.shape[-1] ** -0.5, out, softmax=softmax)


def negative_unscaled(q, k, v, causal=False, softmax_scale=None, *, out=None):
    return _variant(q, k, v, causal, 1.0, out)


def negative_ignores_causal(q, k, v, causal=False, softmax_scale=None, *, out=None):
    return _variant(q, k, v, False, softmax_scale or q.shape[-1] ** -0.5, out)


def negative_sees_the_next_key(q, k, v, causal=False, softmax_scale=None, *, out=None):
    return _variant(q, k, v, causal, softmax_scale or q.shape[-1] ** -0.5, out, hide=2)


def negative_unmasked_key_tail(q, k, v, causal=False, softmax_scale=None, *, out=None):
    """Pads the keys to a multiple of 16 and lets the padding, score 0, into the softmax."""
    pad = (0, 0, 0, -k.shape[-2] % 16)
    k, v = torch.nn.functional.pad(k, pad), torch.nn.functional.pad(v, pad)
    return _variant(q, k, v, causal, softmax_scale or q.shape[-1] ** -0.5, out)


def negative_tf32(q, k, v, causal=False, softmax_scale=None, *, out=None):
    """Drops the 13 low bits of the mantissa, as a TF32 tensor core reads its operands."""
    q, k, v = ((t.float().contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32).to(t.dtype) for t in (q, k, v))
    return _variant(q, k, v, causal, softmax_scale or q.shape[-1] ** -0.5, out)
