"""Writes the keys and values of new tokens into a paged cache, in place.

`kv_cache_append(k, v, k_cache, v_cache, slots)` writes row `t` of `k` and `v` into slot `slots[t]` of the caches, and returns `(k_cache, v_cache)`, the two
arguments themselves.

- `k`, `v`: bfloat16 `(T, G, D)`, a row a token;
- `k_cache`, `v_cache`: bfloat16 `(P, S, G, D)`: `P` pages of `S` slots; slot `n` is place `n % S` of page `n // S`;
- `slots`: int64 `(T,)`, all different, from 0 to `P·S - 1`, in no order; or -1, where a token is padding, of which nothing is written.

All other slots keep what they hold. `T ≥ 1`; no size need be a multiple of anything. All arguments are contiguous.

Sizes: heads of Llama 3 8B and 70B (8 of 128), Qwen2.5 7B (4 of 128) and Llama 2 7B (32 of 128), by their model cards; pages of 16 tokens; a decode batch that is
padded to the next graph's size, or a chunk of a prefill.
"""

import torch

from kbx.suite import Exact, call

DIFFICULTY = 2
DTYPE = "bfloat16"
TAGS = ("cache", "index", "memory-bound", "bf16", "inference")
MUTATES = ("k_cache", "v_cache")

CASES = [
    dict(tokens=5, heads=2, head=64, pages=4, page=16),
    dict(tokens=17, heads=1, head=33, pages=9, page=8, padding=5),
    dict(tokens=37, heads=3, head=20, pages=7, page=16),
    dict(tokens=1, heads=1, head=1, pages=1, page=1),
    dict(tokens=3, heads=4, head=128, pages=3, page=5, padding=2),
    dict(tokens=64, heads=2, head=16, pages=8, page=8),
    dict(tokens=2, heads=8, head=96, pages=2, page=64, padding=1),
    dict(tokens=130, heads=1, head=8, pages=40, page=7, padding=30),
]

SIZES = [
    dict(tokens=1, heads=8, head=128, pages=1024, page=16),
    dict(tokens=64, heads=8, head=128, pages=1024, page=16, padding=7),
    dict(tokens=256, heads=4, head=128, pages=2048, page=16, padding=40),
    dict(tokens=2048, heads=8, head=128, pages=2048, page=16),
    dict(tokens=8192, heads=8, head=128, pages=2048, page=16),
    dict(tokens=16384, heads=32, head=128, pages=2048, page=16),
]
WEIGHTS = [1, 2, 3, 1, 2, 3]

CONTRACT = Exact()


def kv_cache_append(k, v, k_cache, v_cache, slots):
    written = slots >= 0
    k_cache.view(-1, *k.shape[1:])[slots[written]] = k[written]
    v_cache.view(-1, *v.shape[1:])[slots[written]] = v[written]
    return k_cache, v_cache


def inputs(make, tokens, heads, head, pages, page, padding=0):
    """`padding`: as many of the tokens, among the others."""
    slots = make.plain(pages * page).float().argsort()[:tokens].contiguous()
    slots[make.plain(tokens).float().argsort()[:padding]] = -1
    k, v = (make.floats(tokens, heads, head) for _ in range(2))
    k_cache, v_cache = (make.floats(pages, page, heads, head) for _ in range(2))
    return call(k, v, k_cache, v_cache, slots)


def positive_token_by_token(k, v, k_cache, v_cache, slots):
    page = k_cache.shape[1]
    for token, slot in enumerate(slots.tolist()):
        if slot >= 0:
            k_cache[slot // page, slot % page] = k[token]
            v_cache[slot // page, slot % page] = v[token]
    return k_cache, v_cache


def _written(k, v, k_cache, v_cache, slots):
    for new, cache in ((k, k_cache), (v, v_cache)):
        cache.view(-1, *new.shape[1:])[slots] = new
    return k_cache, v_cache


def negative_padding_written(k, v, k_cache, v_cache, slots):
    """Writes padding into the last slot, as an index of -1 does."""
    return _written(k, v, k_cache, v_cache, slots)


def negative_padding_written_to_the_first_slot(k, v, k_cache, v_cache, slots):
    return _written(k, v, k_cache, v_cache, slots.clamp(min=0))


def negative_copies(k, v, k_cache, v_cache, slots):
    """New caches; the arguments stay as they are."""
    return kv_cache_append(k, v, k_cache.clone(), v_cache.clone(), slots)


def negative_values_left(k, v, k_cache, v_cache, slots):
    kv_cache_append(k, v, k_cache, v_cache.clone(), slots)
    return k_cache, v_cache


def negative_values_into_keys(k, v, k_cache, v_cache, slots):
    return kv_cache_append(v, k, k_cache, v_cache, slots)


def negative_next_slots(k, v, k_cache, v_cache, slots):
    """Tokens go one after another behind the first one's slot."""
    first, kept = int(slots.clamp(min=0)[0]), slots >= 0
    places = (first + torch.arange(len(slots), device=slots.device)) % (k_cache.shape[0] * k_cache.shape[1])
    return kv_cache_append(k, v, k_cache, v_cache, torch.where(kept, places, -1))


def negative_pages_and_places_swapped(k, v, k_cache, v_cache, slots):
    P, S = k_cache.shape[:2]
    return kv_cache_append(k, v, k_cache, v_cache, torch.where(slots >= 0, slots % P * S + slots // P, -1))
