"""Routing of a mixture of experts: a softmax over the experts, the largest few of each token, their weights made to add up to one.

`topk_routing(logits, k, renormalize=True)` returns `(weights, experts)`, new contiguous tensors `(T, k)`, float32 and int32:

- `p = softmax(logits)` over the last dimension;
- `experts`: the `k` experts with the largest `p` of each token, the largest first;
- `weights`: their `p`, divided by the sum of the `k` if `renormalize`.

`logits`: float32 `(T, E)`, contiguous, `1 ≤ k ≤ E`, `k ≤ 16`. Those of a row differ by 0.001 at least: there are no ties. Arithmetic
is float32.

Sizes: Mixtral 8x7B (2 of 8 experts), Qwen3 30B-A3B (8 of 128), DeepSeek-V2 Lite (6 of 64, not renormalized), by their model cards; `tokens` is a
decode batch or a chunk of a prefill.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("moe", "softmax", "selection", "inference")
DISTRIBUTIONS = ("standard",)

CASES = [
    dict(tokens=5, experts=8, k=2),
    dict(tokens=37, experts=128, k=8),
    dict(tokens=19, experts=64, k=6, renormalize=False),
    dict(tokens=3, experts=60, k=4, renormalize=True),
    dict(tokens=1, experts=1, k=1),
    dict(tokens=7, experts=5, k=5, renormalize=False),
    dict(tokens=33, experts=257, k=8, spread=60),
    dict(tokens=2, experts=16, k=1),
    dict(tokens=9, experts=40, k=3, offset=200),
    dict(tokens=4, experts=12, k=11, offset=-300, renormalize=False),
]

SIZES = [
    dict(tokens=1, experts=128, k=8),
    dict(tokens=64, experts=8, k=2),
    dict(tokens=256, experts=128, k=8),
    dict(tokens=8192, experts=8, k=2),
    dict(tokens=16384, experts=64, k=6, renormalize=False),
    dict(tokens=65536, experts=128, k=8),
]
WEIGHTS = [1, 2, 3, 1, 2, 3]

CONTRACT = Close(strides="contiguous")


def topk_routing(logits, k: int, renormalize: bool = True):
    weights, experts = torch.softmax(logits, -1).topk(k, -1)
    if renormalize:
        weights = weights / weights.sum(-1, keepdim=True)
    return weights, experts.to(torch.int32)


def inputs(make, tokens, experts, k, renormalize=True, spread=8, offset=0):
    """Every row has a level for each expert, evenly from -spread/2 to spread/2, in random order, and some noise that is smaller than what
    lies between two levels."""
    order = make.plain(tokens, experts).argsort(-1).to(torch.float32)
    noise = make.plain(tokens, experts, low=-0.4, high=0.4)
    return call(((order + noise) / experts - 0.5) * spread + offset, k, renormalize=renormalize)


def positive_online(logits, k, renormalize=True):
    """Selects by the logits, largest after largest, and needs the other experts only for the sum."""
    left, values, experts = logits.clone(), [], []
    for _ in range(k):
        value, expert = left.max(-1, keepdim=True)
        left.scatter_(-1, expert, float("-inf"))
        values.append(value)
        experts.append(expert)
    top = torch.exp(torch.cat(values, -1) - values[0])
    total = top.sum(-1, keepdim=True) if renormalize else torch.exp(logits - values[0]).sum(-1, keepdim=True)
    return top / total, torch.cat(experts, -1).to(torch.int32)


def negative_not_renormalized(logits, k, renormalize=True):
    return topk_routing(logits, k, False)


def negative_always_renormalized(logits, k, renormalize=True):
    return topk_routing(logits, k, True)


def negative_in_order_of_experts(logits, k, renormalize=True):
    weights, experts = topk_routing(logits, k, renormalize)
    order = experts.argsort(-1)
    return weights.gather(-1, order), experts.gather(-1, order)


def negative_smallest(logits, k, renormalize=True):
    return topk_routing(-logits, k, renormalize)


def negative_sigmoid(logits, k, renormalize=True):
    """The scores of DeepSeek-V3."""
    weights, experts = torch.sigmoid(logits).topk(k, -1)
    return (weights / weights.sum(-1, keepdim=True) if renormalize else weights), experts.to(torch.int32)


def negative_no_maximum_subtracted(logits, k, renormalize=True):
    p = logits.exp() / logits.exp().sum(-1, keepdim=True)
    weights, experts = p.topk(k, -1)
    return (weights / weights.sum(-1, keepdim=True) if renormalize else weights), experts.to(torch.int32)


def negative_padded_experts(logits, k, renormalize=True):
    """Experts up to the next power of two have the logit 0."""
    width = 1 << (logits.shape[-1] - 1).bit_length()
    return topk_routing(torch.nn.functional.pad(logits, (0, width - logits.shape[-1])), k, renormalize)


def negative_bf16_weights(logits, k, renormalize=True):
    weights, experts = topk_routing(logits, k, renormalize)
    return weights.bfloat16().float(), experts
