"""Routing of DeepSeek-V3: sigmoid scores, a bias that balances the experts' load, and experts from the best few groups only.

`grouped_routing(logits, bias, k, groups, best, scale)` returns `(weights, experts)`, new contiguous tensors `(T, k)`, float32 and int32. Of each token:

1. `s = sigmoid(logits)`, and `c = s + bias`, by which experts are chosen.
2. The `E` experts are `groups` groups of `E / groups` neighbours. A group's score is the sum of its two largest `c`, or its only one. The `best` groups with the
   largest scores are kept.
3. `experts`: the `k` experts of these groups with the largest `c`, the largest first.
4. `weights`: the `s` of these experts, without the bias, divided by their sum, times `scale`.

`logits`: float32 `(T, E)`; `bias`: float32 `(E,)`, of any sign; both contiguous. `k` ≤ 16 and at most the experts of `best` groups. Arithmetic is float32. Where two scores that decide
differ by less than 10⁻⁵, either choice is right; weights belong to the experts that are returned.

Sizes: DeepSeek-V3 (8 of 256 experts, from 4 of 8 groups, 2.5), Kimi K2 (8 of 384, one group, 2.827) and GLM-4.5 Air (8 of 128, one group, 1), by their model cards; `tokens` is
a decode batch or a chunk of a prefill.
"""

import torch

from kbx.suite import Property, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("moe", "selection", "inference")
DISTRIBUTIONS = ("standard", "uniform", "outliers", "wide")

CASES = [
    dict(tokens=5, experts=32, k=4, groups=4, best=2),
    dict(tokens=37, experts=256, k=8, groups=8, best=4, scale=2.5),
    dict(tokens=19, experts=60, k=3, groups=5, best=3),
    dict(tokens=11, experts=64, k=6, groups=8, best=2, shift=-1.5),
    dict(tokens=3, experts=48, k=6, groups=3, best=1, scale=1.5),
    dict(tokens=1, experts=1, k=1, groups=1, best=1),
    dict(tokens=7, experts=6, k=2, groups=6, best=2),
    dict(tokens=33, experts=384, k=8, groups=1, best=1, scale=2.827),
    dict(tokens=9, experts=21, k=5, groups=7, best=4),
    dict(tokens=2, experts=16, k=16, groups=4, best=4),
]

SIZES = [
    dict(tokens=1, experts=256, k=8, groups=8, best=4, scale=2.5),
    dict(tokens=64, experts=384, k=8, groups=1, best=1, scale=2.827),
    dict(tokens=256, experts=256, k=8, groups=8, best=4, scale=2.5),
    dict(tokens=8192, experts=128, k=8, groups=1, best=1),
    dict(tokens=16384, experts=256, k=8, groups=8, best=4, scale=2.5),
    dict(tokens=65536, experts=256, k=8, groups=8, best=4, scale=2.5),
]
WEIGHTS = [1, 2, 3, 1, 2, 3]


def _scores(logits, bias, groups):
    """`s`, `c`, and the groups' scores."""
    s = torch.sigmoid(logits)
    c = s + bias
    two = min(2, c.shape[-1] // groups)
    return s, c, c.unflatten(-1, (groups, -1)).topk(two, -1).values.sum(-1)


def grouped_routing(logits, bias, k: int, groups: int, best: int, scale: float):
    s, c, of_group = _scores(logits, bias, groups)
    kept = torch.zeros_like(of_group).scatter_(-1, of_group.topk(best, -1).indices, 1.0)
    open_to = kept.repeat_interleave(c.shape[-1] // groups, -1) > 0
    experts = c.masked_fill(~open_to, float("-inf")).topk(k, -1).indices
    weights = s.gather(-1, experts)
    return weights / weights.sum(-1, keepdim=True) * scale, experts.to(torch.int32)


def inputs(make, tokens, experts, k, groups, best, scale=1.0, shift=0.0):
    return call(make.floats(tokens, experts), make.plain(experts) * 0.2 + shift, k, groups, best, scale)


NEAR = 1e-5
"""Scores that are nearer to each other may be taken for each other: a float32 sigmoid errs by 10⁻⁷, sums of three numbers by a few."""
ERROR = 100 * 2.0**-24
"""Of a weight, relative to it: a sigmoid, a sum of 16 numbers at most, a quotient, a product."""
FAINT = 1e-25
"""A weight next to nothing, as of a logit of -60, may be any such."""


def check(args, kwargs, result, expected):
    logits, bias, k, groups, best, scale = args
    weights, experts = result
    s, c, of_group = _scores(logits.double(), bias.double(), groups)
    chosen = experts.long()
    if not ((chosen >= 0) & (chosen < c.shape[-1])).all():
        return ["an expert's number is out of range"]
    share = s.gather(-1, chosen)
    share = share / share.sum(-1, keepdim=True) * scale
    off = ((weights.double() - share).abs() / (share + FAINT)).max()
    complaints = (
        [] if float(off) <= ERROR else [f"weights are not those of the experts: {float(off):.2g} of a weight off"]
    )
    right = grouped_routing(logits.double(), bias.double(), k, groups, best, scale)[1].long()
    wrong = (chosen != right).any(-1) & _distinct(c, of_group, right, best)
    if wrong.any():
        row = int(wrong.nonzero()[0])
        complaints.append(f"token {row} has experts {chosen[row].tolist()}, {right[row].tolist()} are right")
    return complaints


def _distinct(c, of_group, right, best):
    """Tokens none of whose choices is between scores that are near each other."""
    order = of_group.sort(-1, descending=True).values
    clear = order[:, best - 1] - order[:, best] > NEAR if best < order.shape[-1] else torch.ones_like(order[:, 0]) > 0
    kept = of_group >= order[:, best - 1 : best]
    open_to = c.masked_fill(~kept.repeat_interleave(c.shape[-1] // of_group.shape[-1], -1), float("-inf"))
    first = open_to.topk(min(right.shape[-1] + 1, open_to.shape[-1]), -1).values
    return clear & ((first[:, :-1] - first[:, 1:]) > NEAR).all(-1)


CONTRACT = Property(check, strides="contiguous")


def positive_largest_after_largest(logits, bias, k, groups, best, scale):
    """Takes out the largest group `best` times, and the largest expert `k` times."""
    s = 1 / (1 + torch.exp(-logits))
    c = (s + bias).unflatten(-1, (groups, -1))
    top = c.sort(-1, descending=True).values[..., :2].sum(-1)
    left = torch.full_like(c, float("-inf"))
    for _ in range(best):
        group = top.argmax(-1)
        rows = torch.arange(len(c), device=c.device)
        left[rows, group] = c[rows, group]
        top[rows, group] = float("-inf")
    left, experts = left.flatten(1), []
    for _ in range(k):
        experts.append(left.argmax(-1, keepdim=True))
        left = left.scatter(-1, experts[-1], float("-inf"))
    chosen = torch.cat(experts, -1)
    weights = s.gather(-1, chosen)
    return weights * (scale / weights.sum(-1, keepdim=True)), chosen.to(torch.int32)


def _variant(
    logits, bias, k, groups, best, scale, of_group=lambda c: c.topk(min(2, c.shape[-1]), -1).values.sum(-1), score=None
):
    s = torch.sigmoid(logits) if score is None else score
    c = s + bias
    grouped = c.unflatten(-1, (groups, -1))
    top = of_group(grouped)
    kept = torch.zeros_like(top).scatter_(-1, top.topk(best, -1).indices, 1.0) > 0
    experts = grouped.masked_fill(~kept[..., None], float("-inf")).flatten(1).topk(k, -1).indices
    weights = s.gather(-1, experts)
    return weights / weights.sum(-1, keepdim=True) * scale, experts.to(torch.int32)


def negative_any_group(logits, bias, k, groups, best, scale):
    return _variant(logits, bias, k, groups, groups, scale)


def negative_best_expert_of_a_group(logits, bias, k, groups, best, scale):
    """DeepSeek-V2's: a group's score is its largest."""
    return _variant(logits, bias, k, groups, best, scale, of_group=lambda c: c.amax(-1))


def negative_sum_of_a_group(logits, bias, k, groups, best, scale):
    return _variant(logits, bias, k, groups, best, scale, of_group=lambda c: c.sum(-1))


def negative_without_bias(logits, bias, k, groups, best, scale):
    return _variant(logits, torch.zeros_like(bias), k, groups, best, scale)


def negative_weights_with_bias(logits, bias, k, groups, best, scale):
    experts = grouped_routing(logits, bias, k, groups, best, scale)[1]
    weights = (torch.sigmoid(logits) + bias).gather(-1, experts.long())
    return weights / weights.sum(-1, keepdim=True) * scale, experts


def negative_softmax(logits, bias, k, groups, best, scale):
    return _variant(logits, bias, k, groups, best, scale, score=logits.softmax(-1))


def negative_unscaled(logits, bias, k, groups, best, scale):
    return grouped_routing(logits, bias, k, groups, best, 1.0)


def negative_not_normalized(logits, bias, k, groups, best, scale):
    experts = grouped_routing(logits, bias, k, groups, best, scale)[1]
    return torch.sigmoid(logits).gather(-1, experts.long()) * scale, experts


def negative_groups_of_every_nth(logits, bias, k, groups, best, scale):
    """Takes expert e for one of group e modulo the groups."""
    order = torch.arange(logits.shape[-1], device=logits.device).view(-1, groups).mT.flatten()
    weights, experts = grouped_routing(logits[:, order], bias[order], k, groups, best, scale)
    return weights, order[experts.long()].to(torch.int32)


def negative_zero_for_other_groups(logits, bias, k, groups, best, scale):
    """Scores of groups that are not kept become 0 in place of -∞, and beat negative ones."""
    s, c, of_group = _scores(logits, bias, groups)
    kept = torch.zeros_like(of_group).scatter_(-1, of_group.topk(best, -1).indices, 1.0)
    experts = (c * kept.repeat_interleave(c.shape[-1] // groups, -1)).topk(k, -1).indices
    weights = s.gather(-1, experts)
    return weights / weights.sum(-1, keepdim=True) * scale, experts.to(torch.int32)
