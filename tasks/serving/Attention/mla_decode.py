"""Multi-head latent attention of one new token of each sequence of a batch, with the projections absorbed, over latents in pages.

`mla_decode(q, cache, table, lengths, latent, scale)` is a new contiguous bfloat16 tensor `(B, H, C)`, with `C = latent`.

- `q`: bfloat16 `(B, H, C + R)`: of each head `C` elements that the key projection has been absorbed into, then `R` that rotary embedding has turned;
- `cache`: bfloat16 `(P, S, C + R)`: `P` pages of `S` tokens; a token has one latent for all heads, its first `C` elements, and then a key of `R` elements;
- `table`: int32 `(B, W)`: token `t` of sequence `b` is in page `table[b, t // S]`, at place `t % S`;
- `lengths`: int32 `(B,)`: the tokens of each sequence, its new one included: 1 to `W·S`.

All `C + R` elements of a token are its key for every head, and its first `C` elements are also its value: `softmax(scale · q · keyᵀ) · value` over all tokens of
the sequence, with the largest score subtracted first. What a page holds beyond a sequence's length is any finite number, and entries of `table` that no token needs
are any page. Scores, the softmax and sums are float32; probabilities may be rounded to bfloat16, which tensor cores need, before they are
divided by their sum or after; the result is rounded once. `C` ≤ 512, `R` ≤ 64; no size need be a multiple of anything. All arguments are contiguous.

Sizes: DeepSeek-V3 (128 heads, a latent of 512, 64 rotated; `scale` is 192 to the power of -0.5), on one GPU, or 16 heads of it on each of eight GPUs, by its model
card; pages of 64 tokens, as FlashMLA's.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 5
DTYPE = "bfloat16"
TAGS = ("attention", "softmax", "matmul", "tensor-core", "bf16", "inference")
DISTRIBUTIONS = ("standard", "uniform", "outliers", "small")

CASES = [
    dict(batch=3, context=70, heads=4, latent=64, rotary=16, page=16),
    dict(batch=2, context=33, heads=17, latent=48, rotary=8, page=8),
    dict(batch=1, context=200, heads=2, latent=40, rotary=64, page=16),
    dict(batch=2, context=65, heads=16, latent=128, rotary=32, page=64),
    dict(batch=4, context=1, heads=1, latent=1, rotary=1, page=1),
    dict(batch=1, context=37, heads=5, latent=512, rotary=64, page=5),
    dict(batch=5, context=20, heads=3, latent=96, rotary=24, page=16),
    dict(batch=1, context=530, heads=2, latent=32, rotary=16, page=64),
]

SIZES = [
    dict(batch=1, context=8192, heads=128, latent=512, rotary=64, page=64, least=0.95),
    dict(batch=8, context=4096, heads=128, latent=512, rotary=64, page=64, least=0.95),
    dict(batch=32, context=2048, heads=128, latent=512, rotary=64, page=64, least=0.95),
    dict(batch=64, context=4096, heads=16, latent=512, rotary=64, page=64, least=0.95),
    dict(batch=64, context=4096, heads=128, latent=512, rotary=64, page=64, least=0.95),
    dict(batch=128, context=4096, heads=128, latent=512, rotary=64, page=64, least=0.95),
]
WEIGHTS = [1, 1, 2, 2, 3, 3]


def magnitude(q, cache, table, lengths, latent, scale):
    """Eight times the sum of p·|v|: an eighth of a roundoff of it is what rounding all probabilities changes at most."""
    tokens = cache[table].flatten(1, 2)
    return 8 * _attention(q, tokens, tokens[..., :latent].abs(), lengths, scale).double()


CONTRACT = Close(scale=magnitude, strides="contiguous")


def _attention(q, keys, values, lengths, scale):
    seen = torch.arange(keys.shape[1], device=q.device) < lengths[:, None]
    # The heads as if they were queries of one.
    one = (x.unsqueeze(1) for x in (q, keys, values))
    return F.scaled_dot_product_attention(*one, attn_mask=seen[:, None, None], scale=scale).squeeze(1)


def mla_decode(q, cache, table, lengths, latent: int, scale: float):
    tokens = cache[table].flatten(1, 2)
    return _attention(q, tokens, tokens[..., :latent], lengths, scale).contiguous()


def inputs(make, batch, context, heads, latent, rotary, page, least=0.5):
    """Lengths from a part of the context, `least`, up to all of it, which the first sequence has; a quarter more pages than are needed, in random
    order."""
    width = -(-context // page)
    pages = batch * width + batch * width // 4 + 1
    table = make.plain(pages).float().argsort()[: batch * width].to(torch.int32).view(batch, width)
    lengths = make.ints(batch, low=max(1, int(context * least)), high=context + 1, dtype=torch.int32)
    lengths[0] = context
    cache = make.floats(pages, page, latent + rotary)
    scale = (0.25 * latent + rotary) ** -0.5
    return call(make.floats(batch, heads, latent + rotary), cache, table, lengths, latent, scale)


def _variant(q, cache, table, lengths, latent, scale, keys=lambda token: token, beyond=float("-inf")):
    """Sequence by sequence, on the gathered tokens."""
    results = []
    for one, pages, length in zip(q, table, lengths.tolist(), strict=True):
        tokens = cache[pages].flatten(0, 1).float()
        scores = keys(one.float()) @ keys(tokens).mT * scale
        scores[:, length:] = beyond
        results.append(scores.softmax(-1).to(q.dtype).float() @ tokens[:, :latent])
    return torch.stack(results).to(q.dtype)


def positive_split_context(q, cache, table, lengths, latent, scale):
    """Three parts of the context, each with a maximum and a sum of its own, joined at the end."""
    results = []
    for one, pages, length in zip(q, table, lengths.tolist(), strict=True):
        tokens = cache[pages].flatten(0, 1)[:length]
        scores = one.float() @ tokens.float().mT * scale
        tops, sums, parts = [], [], []
        for some, rows in zip(scores.tensor_split(3, -1), tokens.tensor_split(3), strict=True):
            if some.shape[1]:
                p = torch.exp(some - some.amax(-1, keepdim=True))
                tops.append(some.amax(-1))
                sums.append(p.sum(-1))
                parts.append(p.to(q.dtype).float() @ rows[:, :latent].float())
        share = torch.exp(torch.stack(tops) - torch.stack(tops).amax(0))
        total = (share * torch.stack(sums)).sum(0)
        results.append((share[..., None] * torch.stack(parts)).sum(0) / total[:, None])
    return torch.stack(results).to(q.dtype)


def negative_without_the_rotated_part(q, cache, table, lengths, latent, scale):
    return _variant(q, cache, table, lengths, latent, scale, keys=lambda token: token[:, :latent])


def negative_values_from_the_end(q, cache, table, lengths, latent, scale):
    """Takes the last elements of a token for its value."""
    tokens = cache[table].flatten(1, 2)
    return _attention(q, tokens, tokens[..., -latent:], lengths, scale).contiguous()


def negative_scale_of_the_whole_key(q, cache, table, lengths, latent, scale):
    """The square root of the elements of an absorbed key, in place of those that there were before."""
    return _variant(q, cache, table, lengths, latent, q.shape[-1] ** -0.5)


def negative_whole_last_page(q, cache, table, lengths, latent, scale):
    """Reads the last page to its end."""
    page = cache.shape[1]
    return _variant(q, cache, table, (lengths + page - 1) // page * page, latent, scale)


def negative_last_page_left_out(q, cache, table, lengths, latent, scale):
    """Reads whole pages only, at least one."""
    page = cache.shape[1]
    return _variant(q, cache, table, (lengths // page * page).clamp(min=page), latent, scale)


def negative_without_the_new_token(q, cache, table, lengths, latent, scale):
    return _variant(q, cache, table, (lengths - 1).clamp(min=1), latent, scale)


def negative_pages_in_order(q, cache, table, lengths, latent, scale):
    """Takes the pages one after another, without the table."""
    order = torch.arange(table.numel(), device=q.device, dtype=torch.int32).view(table.shape)
    return _variant(q, cache, order, lengths, latent, scale)


def negative_masked_by_zero(q, cache, table, lengths, latent, scale):
    """Scores beyond the length are 0 in place of -∞."""
    return _variant(q, cache, table, lengths, latent, scale, beyond=0.0)
