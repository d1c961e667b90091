"""The projections of an attention layer as one product with a bias, split into queries, keys and values.

`qkv_projection(x, w, bias, heads, kv_heads)` returns `(q, k, v)`, three new contiguous bfloat16 tensors `(T, H, D)`, `(T, G, D)` and
`(T, G, D)`, with `H = heads`, `G = kv_heads`, and `D` the size of a head: the rows of `w` over `H + 2G`.

- `x`: bfloat16 `(T, K)`, a row a token;
- `w`: bfloat16 `((H + 2G)·D, K)`: first the rows of all query heads, then those of the key heads, then those of the value heads;
- `bias`: bfloat16, an element for each row of `w`.

`x @ wᵀ` is added up in float32, `bias` is added in float32, and the sum is rounded to bfloat16 once. `T`, `K`, `D` ≥ 1 need not be
multiples of anything. All arguments are contiguous.

Sizes: Qwen2.5 0.5B (896; 14 and 2 heads of 64), 7B (3584; 28 and 4 of 128) and 72B on four GPUs (8192; 16 and 2 of 128 each), whose
projections have biases, by their model cards; `tokens` is a decode batch or a chunk of a prefill.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "bfloat16"
TAGS = ("attention", "matmul", "tensor-core", "bf16", "inference")
DISTRIBUTIONS = ("standard", "uniform", "outliers", "small", "wide", "zeros")

CASES = [
    dict(tokens=5, hidden=64, heads=4, kv_heads=2, head=16),
    dict(tokens=37, hidden=70, heads=3, kv_heads=1, head=20),
    dict(tokens=1, hidden=515, heads=2, kv_heads=2, head=8),
    dict(tokens=19, hidden=1030, heads=7, kv_heads=1, head=5),
    dict(tokens=16, hidden=32, heads=2, kv_heads=1, head=32),
    dict(tokens=130, hidden=24, heads=4, kv_heads=1, head=6),
    dict(tokens=3, hidden=1, heads=1, kv_heads=1, head=1),
    dict(tokens=2, hidden=129, heads=6, kv_heads=3, head=33),
]

SIZES = [
    dict(tokens=1, hidden=3584, heads=28, kv_heads=4, head=128),
    dict(tokens=64, hidden=8192, heads=16, kv_heads=2, head=128),
    dict(tokens=256, hidden=3584, heads=28, kv_heads=4, head=128),
    dict(tokens=2048, hidden=896, heads=14, kv_heads=2, head=64),
    dict(tokens=4096, hidden=3584, heads=28, kv_heads=4, head=128),
    dict(tokens=8192, hidden=8192, heads=16, kv_heads=2, head=128),
]
WEIGHTS = [1, 2, 3, 1, 2, 3]

CONTRACT = Close(strides="contiguous")


def qkv_projection(x, w, bias, heads: int, kv_heads: int):
    head = w.shape[0] // (heads + 2 * kv_heads)
    parts = F.linear(x, w, bias).split((heads * head, kv_heads * head, kv_heads * head), -1)
    return tuple(part.unflatten(-1, (-1, head)).contiguous() for part in parts)


def inputs(make, tokens, hidden, heads, kv_heads, head):
    rows = (heads + 2 * kv_heads) * head
    return call(make.floats(tokens, hidden), make.plain(rows, hidden) * hidden**-0.5, make.plain(rows), heads, kv_heads)


def _split(product, heads, kv_heads):
    head = product.shape[1] // (heads + 2 * kv_heads)
    parts = product.split((heads * head, kv_heads * head, kv_heads * head), -1)
    return tuple(part.reshape(len(product), -1, head).contiguous() for part in parts)


def positive_split_k(x, w, bias, heads, kv_heads):
    """Four partial sums in float32."""
    parts = zip(x.float().tensor_split(4, -1), w.float().tensor_split(4, -1), strict=True)
    return _split((sum(F.linear(a, b) for a, b in parts) + bias.float()).to(x.dtype), heads, kv_heads)


def negative_without_bias(x, w, bias, heads, kv_heads):
    return _split(F.linear(x, w), heads, kv_heads)


def negative_rounded_before_the_bias(x, w, bias, heads, kv_heads):
    return _split(F.linear(x, w) + bias, heads, kv_heads)


def negative_bias_of_the_part(x, w, bias, heads, kv_heads):
    """Counts the columns of each part from the beginning of the bias."""
    product = F.linear(x.float(), w.float())
    parts = (part + bias[: part.shape[-1]].float() for part in _split_columns(product, heads, kv_heads))
    return _split(torch.cat(list(parts), -1).to(x.dtype), heads, kv_heads)


def _split_columns(product, heads, kv_heads):
    head = product.shape[1] // (heads + 2 * kv_heads)
    return product.split((heads * head, kv_heads * head, kv_heads * head), -1)


def negative_keys_and_values_swapped(x, w, bias, heads, kv_heads):
    q, k, v = _split(F.linear(x, w, bias), heads, kv_heads)
    return q, v, k


def negative_grouped_rows(x, w, bias, heads, kv_heads):
    """Takes the rows for those of Falcon: of each key head its query heads, its key, its value."""
    product = F.linear(x, w, bias).unflatten(-1, (kv_heads, heads // kv_heads + 2, -1))
    q, k, v = product.split((heads // kv_heads, 1, 1), 2)
    return q.flatten(1, 2).contiguous(), k.flatten(1, 2).contiguous(), v.flatten(1, 2).contiguous()


def negative_missing_k_tail(x, w, bias, heads, kv_heads):
    """Leaves out the last columns when K is no multiple of 64."""
    whole = max(1, x.shape[1] // 64 * 64)
    return _split(F.linear(x[:, :whole], w[:, :whole], bias), heads, kv_heads)


def negative_rounded_blocks(x, w, bias, heads, kv_heads):
    """Rounds the running sum to bfloat16 after every 16 products."""
    total = bias.float()
    for a, b in zip(x.float().split(16, -1), w.float().split(16, -1), strict=True):
        total = (total + F.linear(a, b)).to(x.dtype).float()
    return _split(total.to(x.dtype), heads, kv_heads)
