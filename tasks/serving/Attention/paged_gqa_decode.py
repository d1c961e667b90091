"""Attention of one new token of each sequence of a batch, with grouped query heads, over keys and values in pages.

`paged_gqa_decode(q, k_cache, v_cache, table, lengths)` is a new contiguous bfloat16 tensor of `q`'s shape.

- `q`: bfloat16 `(B, H, D)`, a row a sequence;
- `k_cache`, `v_cache`: bfloat16 `(P, S, G, D)`: `P` pages of `S` tokens, of `G` heads; `H` is a multiple of `G`, and query head `h` reads key and value
  head `h // (H / G)`;
- `table`: int32 `(B, W)`: token `t` of sequence `b` is in page `table[b, t // S]`, at place `t % S`;
- `lengths`: int32 `(B,)`: the tokens of each sequence, its new one included: 1 to `W·S`.

The result is `softmax(q · kᵀ / √D) · v` over all tokens of the sequence, with the largest score subtracted first. What a page holds beyond a sequence's length is any finite
number, and entries of `table` that no token needs are any page. Scores, the softmax and sums are float32; probabilities may be rounded to
bfloat16, which tensor cores need, before they are divided by their sum or after; the result is rounded once. `D` ≤ 128, `S` and lengths need not
be multiples of anything. All arguments are contiguous.

Sizes: heads of Llama 3 8B (32 and 8 of 128), Qwen2.5 7B (28 and 4), Llama 3 70B on four GPUs (16 and 2) and Qwen3 30B-A3B (32 and 4), by their model
cards; pages of 16 tokens, as vLLM's, or of 64.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 5
DTYPE = "bfloat16"
TAGS = ("attention", "softmax", "memory-bound", "bf16", "inference")
DISTRIBUTIONS = ("standard", "uniform", "outliers", "small")

CASES = [
    dict(batch=3, context=70, heads=(4, 2), head=64, page=16),
    dict(batch=5, context=33, heads=(7, 1), head=32, page=8),
    dict(batch=1, context=200, heads=(2, 2), head=16, page=16),
    dict(batch=2, context=65, heads=(8, 2), head=128, page=64),
    dict(batch=4, context=1, heads=(1, 1), head=1, page=1),
    dict(batch=2, context=45, heads=(6, 3), head=40, page=5),
    dict(batch=9, context=20, heads=(3, 1), head=80, page=16),
    dict(batch=1, context=530, heads=(4, 1), head=24, page=16),
]

SIZES = [
    dict(batch=1, context=8192, heads=(32, 8), head=128, page=16, least=0.95),
    dict(batch=8, context=4096, heads=(32, 8), head=128, page=16, least=0.95),
    dict(batch=32, context=4096, heads=(28, 4), head=128, page=64, least=0.95),
    dict(batch=64, context=4096, heads=(32, 8), head=128, page=16, least=0.95),
    dict(batch=128, context=2048, heads=(32, 4), head=128, page=16, least=0.95),
    dict(batch=256, context=4096, heads=(16, 2), head=128, page=16, least=0.95),
]
WEIGHTS = [1, 1, 2, 3, 3, 3]


def magnitude(q, k_cache, v_cache, table, lengths):
    """Eight times the sum of p·|v|: an eighth of a roundoff of it is what rounding all probabilities changes at most."""
    return 8 * paged_gqa_decode(q, k_cache, v_cache.abs(), table, lengths).double()


CONTRACT = Close(scale=magnitude, strides="contiguous")


def paged_gqa_decode(q, k_cache, v_cache, table, lengths):
    (B, H, D), G = q.shape, k_cache.shape[2]
    keys, values = (cache[table].flatten(1, 2).transpose(1, 2) for cache in (k_cache, v_cache))
    seen = torch.arange(keys.shape[2], device=q.device) < lengths[:, None]
    # The query heads of a key head as if they were queries of it.
    result = F.scaled_dot_product_attention(q.view(B, G, H // G, D), keys, values, attn_mask=seen[:, None, None])
    return result.reshape(B, H, D)


def inputs(make, batch, context, heads, head, page, least=0.5):
    """Lengths from a part of the context, `least`, up to all of it, which the first sequence has; a quarter more pages than are needed, in random
    order."""
    width = -(-context // page)
    pages = batch * width + batch * width // 4 + 1
    table = make.plain(pages).float().argsort()[: batch * width].to(torch.int32).view(batch, width)
    lengths = make.ints(batch, low=max(1, int(context * least)), high=context + 1, dtype=torch.int32)
    lengths[0] = context
    k_cache, v_cache = (make.floats(pages, page, heads[1], head) for _ in range(2))
    return call(make.floats(batch, heads[0], head), k_cache, v_cache, table, lengths)


def _variant(q, k_cache, v_cache, table, lengths, of_head=None, scale=None, beyond=float("-inf")):
    """Sequence by sequence, on the gathered tokens."""
    H, G = q.shape[1], k_cache.shape[2]
    of_head = torch.arange(H, device=q.device) // (H // G) if of_head is None else of_head
    results = []
    for one, pages, length in zip(q, table, lengths.tolist(), strict=True):
        keys, values = (cache[pages].flatten(0, 1)[:, of_head].float() for cache in (k_cache, v_cache))
        scores = torch.einsum("hd,thd->ht", one.float(), keys) * (scale or q.shape[-1] ** -0.5)
        scores[:, length:] = beyond
        results.append(torch.einsum("ht,thd->hd", scores.softmax(-1).to(q.dtype).float(), values))
    return torch.stack(results).to(q.dtype)


def positive_split_context(q, k_cache, v_cache, table, lengths):
    """Three parts of the context, each with a maximum and a sum of its own, joined at the end."""
    H, G, results = q.shape[1], k_cache.shape[2], []
    for one, pages, length in zip(q, table, lengths.tolist(), strict=True):
        keys, values = (
            cache[pages].flatten(0, 1)[:length].repeat_interleave(H // G, 1) for cache in (k_cache, v_cache)
        )
        scores = torch.einsum("hd,thd->ht", one.float(), keys.float()) * q.shape[-1] ** -0.5
        tops, sums, parts = [], [], []
        for some, rows in zip(scores.tensor_split(3, -1), values.tensor_split(3), strict=True):
            if some.shape[1]:
                p = torch.exp(some - some.amax(-1, keepdim=True))
                tops.append(some.amax(-1))
                sums.append(p.sum(-1))
                parts.append(torch.einsum("ht,thd->hd", p.to(q.dtype).float(), rows.float()))
        share = torch.exp(torch.stack(tops) - torch.stack(tops).amax(0))
        total = (share * torch.stack(sums)).sum(0)
        results.append((share[..., None] * torch.stack(parts)).sum(0) / total[:, None])
    return torch.stack(results).to(q.dtype)


def negative_whole_last_page(q, k_cache, v_cache, table, lengths):
    """Reads the last page to its end."""
    page = k_cache.shape[1]
    return _variant(q, k_cache, v_cache, table, (lengths + page - 1) // page * page)


def negative_last_page_left_out(q, k_cache, v_cache, table, lengths):
    """Reads whole pages only, at least one."""
    page = k_cache.shape[1]
    return _variant(q, k_cache, v_cache, table, (lengths // page * page).clamp(min=page))


def negative_without_the_new_token(q, k_cache, v_cache, table, lengths):
    return _variant(q, k_cache, v_cache, table, (lengths - 1).clamp(min=1))


def negative_heads_in_turn(q, k_cache, v_cache, table, lengths):
    """Query head h reads key head h modulo G."""
    of_head = torch.arange(q.shape[1], device=q.device) % k_cache.shape[2]
    return _variant(q, k_cache, v_cache, table, lengths, of_head=of_head)


def negative_pages_in_order(q, k_cache, v_cache, table, lengths):
    """Takes the pages one after another, without the table."""
    order = torch.arange(table.numel(), device=q.device, dtype=torch.int32).view(table.shape)
    return _variant(q, k_cache, v_cache, order, lengths)


def negative_unscaled(q, k_cache, v_cache, table, lengths):
    return _variant(q, k_cache, v_cache, table, lengths, scale=1.0)


def negative_masked_by_zero(q, k_cache, v_cache, table, lengths):
    """Scores beyond the length are 0 in place of -∞."""
    return _variant(q, k_cache, v_cache, table, lengths, beyond=0.0)
