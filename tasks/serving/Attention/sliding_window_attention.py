"""Causal attention in a sliding window, with grouped query heads, and with or without a sink: a score beside those of the keys, without a value.

`sliding_window_attention(q, k, v, window, sinks=None)` is a new contiguous bfloat16 tensor of `q`'s shape.

- `q`: bfloat16 `(B, S, H, D)`; `k` and `v`: bfloat16 `(B, S, G, D)`; `H` is a multiple of `G`, and query head `h` reads key and value head
  `h // (H / G)`;
- token `i` sees the tokens `j` with `i - window < j ≤ i`: itself, and `window - 1` before it; `window ≥ 1`;
- `sinks`: float32 `(H,)`, or `None`.

With `s = q · kᵀ / √D` over the tokens seen, the probability of token `j` is `exp(s_j) / (Σ exp(s) + exp(sinks[h]))`, where the last term is only there if there
are sinks. The largest score, or the sink if it is larger, is subtracted first. The result is the sum of values by these probabilities. Scores, the softmax and sums are float32;
probabilities may be rounded to bfloat16, which tensor cores need, before they are divided by their sum or after; the result is rounded once. `D` ≤ 128, and
sizes need not be multiples of anything. All arguments are contiguous.

Sizes: gpt-oss 20B (64 and 8 heads of 64, a window of 128, sinks), Mistral 7B (32 and 8 of 128, 4096) and Gemma 3 27B (32 and 16 of 128, 1024), by their model cards.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 5
DTYPE = "bfloat16"
TAGS = ("attention", "softmax", "matmul", "tensor-core", "bf16", "inference")
DISTRIBUTIONS = ("standard", "uniform", "outliers", "small")

CASES = [
    dict(batch=1, tokens=37, heads=(4, 2), head=64, window=16),
    dict(batch=2, tokens=70, heads=(2, 1), head=32, window=20, sinks=True),
    dict(batch=1, tokens=131, heads=(2, 1), head=16, window=33),
    dict(batch=3, tokens=17, heads=(7, 1), head=24, window=1, sinks=True),
    dict(batch=1, tokens=1, heads=(1, 1), head=1, window=4),
    dict(batch=1, tokens=150, heads=(3, 3), head=80, window=128, sinks=True),
    dict(batch=2, tokens=66, heads=(6, 3), head=40, window=200),
    dict(batch=1, tokens=200, heads=(2, 2), head=128, window=65),
]

SIZES = [
    dict(batch=1, tokens=512, heads=(64, 8), head=64, window=128, sinks=True),
    dict(batch=4, tokens=1024, heads=(64, 8), head=64, window=128, sinks=True),
    dict(batch=1, tokens=4096, heads=(32, 16), head=128, window=1024),
    dict(batch=1, tokens=8192, heads=(32, 8), head=128, window=4096),
    dict(batch=2, tokens=8192, heads=(32, 16), head=128, window=1024),
    dict(batch=4, tokens=8192, heads=(64, 8), head=64, window=128, sinks=True),
]
WEIGHTS = [1, 1, 2, 2, 3, 3]


def magnitude(q, k, v, window, sinks=None):
    """Eight times the sum of p·|v|: an eighth of a roundoff of it is what rounding all probabilities changes at most."""
    return 8 * sliding_window_attention(q, k, v.abs(), window, sinks).double()


CONTRACT = Close(scale=magnitude, strides="contiguous")
ROWS = 1024


def _single(x):
    return x.to(torch.promote_types(x.dtype, torch.float32))


def _some_rows(q, k, v, first, past, window, sinks):
    """Of tokens from `first` on, which see keys from `past` on."""
    repeats, rows = q.shape[2] // k.shape[2], first + torch.arange(q.shape[1], device=q.device)[:, None]
    columns = past + torch.arange(k.shape[1], device=q.device)
    keys, values = (x.repeat_interleave(repeats, 2).transpose(1, 2) for x in (k, v))
    scores = _single(q).transpose(1, 2) @ _single(keys).mT * q.shape[-1] ** -0.5
    scores = scores.masked_fill((columns > rows) | (columns <= rows - window), float("-inf"))
    if sinks is not None:
        beside = sinks.to(scores.dtype)[:, None, None].expand(*scores.shape[:-1], 1)
        scores = torch.cat((scores, beside), -1)
    p = scores.softmax(-1)[..., : columns.numel()]
    return (p.to(v.dtype) @ values).transpose(1, 2)


def sliding_window_attention(q, k, v, window: int, sinks=None):
    results = []
    for first in range(0, q.shape[1], ROWS):
        last, past = min(first + ROWS, q.shape[1]), max(0, first - window + 1)
        results.append(_some_rows(q[:, first:last], k[:, past:last], v[:, past:last], first, past, window, sinks))
    return torch.cat(results, 1).contiguous()


def inputs(make, batch, tokens, heads, head, window, sinks=False):
    q, k, v = (make.floats(batch, tokens, h, head) for h in (heads[0], heads[1], heads[1]))
    beside = make.plain(heads[0], dtype=torch.float32) + 2 if sinks else None
    return call(q, k, v, window, sinks=beside)


def positive_online_softmax(q, k, v, window, sinks=None):
    """Keys in blocks of 16; the sink is there from the beginning; probabilities are rounded before they are divided by their sum."""
    one = q.float().transpose(1, 2) * q.shape[-1] ** -0.5
    keys, values = (x.repeat_interleave(q.shape[2] // k.shape[2], 2).float().transpose(1, 2) for x in (k, v))
    top = torch.full((*one.shape[:3], 1), float("-inf") if sinks is None else 0.0, device=q.device)
    top = top if sinks is None else top + sinks[:, None, None]
    total, acc = torch.full_like(top, 0.0 if sinks is None else 1.0), torch.zeros_like(one)
    row = torch.arange(q.shape[1], device=q.device)[:, None]
    for first in range(0, q.shape[1], 16):
        scores = one @ keys[:, :, first : first + 16].mT
        column = first + torch.arange(scores.shape[-1], device=q.device)
        scores = scores.masked_fill((column > row) | (column <= row - window), float("-inf"))
        new = torch.maximum(top, scores.amax(-1, keepdim=True))
        safe = torch.where(new.isfinite(), new, 0.0)
        p, fade = torch.exp(scores - safe), torch.exp(top - safe)
        total = total * fade + p.sum(-1, keepdim=True)
        acc = acc * fade + p.to(q.dtype).float() @ values[:, :, first : first + 16]
        top = new
    return (acc / total).to(q.dtype).transpose(1, 2).contiguous()


def negative_window_one_longer(q, k, v, window, sinks=None):
    """Sees token i - window, too."""
    return sliding_window_attention(q, k, v, window + 1, sinks)


def negative_window_one_shorter(q, k, v, window, sinks=None):
    return sliding_window_attention(q, k, v, max(1, window - 1), sinks)


def negative_no_window(q, k, v, window, sinks=None):
    return sliding_window_attention(q, k, v, q.shape[1], sinks)


def negative_without_sinks(q, k, v, window, sinks=None):
    return sliding_window_attention(q, k, v, window)


def negative_sinks_scaled(q, k, v, window, sinks=None):
    """Divides the sinks by √D, as the scores."""
    return sliding_window_attention(q, k, v, window, None if sinks is None else sinks * q.shape[-1] ** -0.5)


def negative_whole_blocks(q, k, v, window, sinks=None):
    """Sees whole blocks of 16 keys, back to the one in which the window begins."""
    rows = []
    for i in range(q.shape[1]):
        first = max(0, i - window + 1) // 16 * 16
        rows.append(_some_rows(q[:, i : i + 1], k[:, first : i + 1], v[:, first : i + 1], i, first, i + 1, sinks))
    return torch.cat(rows, 1).contiguous()


def negative_unscaled(q, k, v, window, sinks=None):
    return sliding_window_attention((q * q.shape[-1] ** 0.5).to(q.dtype), k, v, window, sinks)


def negative_heads_in_turn(q, k, v, window, sinks=None):
    """Query head h reads key head h modulo G."""
    repeats = q.shape[2] // k.shape[2]
    return sliding_window_attention(q, k.repeat(1, 1, repeats, 1), v.repeat(1, 1, repeats, 1), window, sinks)
