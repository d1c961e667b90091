"""Draws the next token of each sequence of a batch: temperature, top-k, top-p and min-p, with options for each row.

`sample_tokens(logits, temperature, top_k, top_p, min_p)` returns the tokens drawn, a new int64 tensor `(B,)`.

- `logits`: float32 `(B, V)`; those at the limit of top-k differ from each other;
- `temperature`: float32 `(B,)`, positive; `top_k`: int32 `(B,)`, 1 to `V`; `top_p`: float32 `(B,)`, above 0 and at most 1; `min_p`: float32 `(B,)`, 0 to 1.

Of each row:

1. `z = logits / temperature`.
2. *top-k* keeps the `top_k` tokens with the largest `z`; `p` is the softmax of `z` over these.
3. *top-p* goes through what is kept by falling `p`, and keeps tokens until their `p` add up to `top_p` or more: the one that reaches it is kept, and those
   after it are not.
4. *min-p* keeps, of the remaining ones, those whose `p` is at least `min_p` times the largest `p`.
5. One of the remaining tokens is drawn with a probability proportional to `p`.

The tokens drawn are judged by distribution. Each must be one that is kept; where `p`, or a sum of it, is within 10⁻⁴ of a limit, the token there may be kept or
not. Rows and calls are independent, and every call draws anew: seed from `torch`'s generator, or count the calls. `B ≥ 1`. All arguments are
contiguous.

Sizes: vocabularies of Llama 3 (128256), Qwen2.5 (151936), DeepSeek-V3 (129280) and Gemma 2 (256000), by their model cards; decode batches.
"""

import torch

from kbx.suite import Random, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("sampling", "random", "selection", "inference")
DISTRIBUTIONS = ("standard",)

CASES = [
    dict(batch=500, vocabulary=60),
    dict(batch=300, vocabulary=33, k=3),
    dict(batch=7, vocabulary=257, k=20, p=0.8),
    dict(batch=300, vocabulary=100, m=0.2),
    dict(batch=3, vocabulary=1000, m=0.1),
    dict(batch=1, vocabulary=1),
    dict(batch=400, vocabulary=130, k=40, p=0.7, m=0.02),
    dict(batch=400, vocabulary=64, p=0.5),
    dict(batch=17, vocabulary=96, k=1),
    dict(batch=2, vocabulary=4099, k=50, p=0.95, m=0.05),
]

SIZES = [
    dict(batch=1, vocabulary=128256, k=50, p=0.95, m=0.02),
    dict(batch=16, vocabulary=151936, k=20, p=0.8),
    dict(batch=64, vocabulary=128256, p=0.9),
    dict(batch=128, vocabulary=256000, m=0.05),
    dict(batch=256, vocabulary=129280, k=50, p=0.95),
    dict(batch=512, vocabulary=151936, k=20, p=0.8, m=0.01),
]
WEIGHTS = [1, 2, 2, 2, 3, 2]


def _kept(logits, temperature, top_k, top_p, min_p, slack=0.0):
    """Tokens by falling probability, their probabilities after top-k, and which are kept; with `slack`, limits are wider by so much."""
    z, order = (logits / temperature[:, None]).sort(-1, descending=True)
    rank = torch.arange(logits.shape[-1], device=logits.device)
    p = z.masked_fill(rank >= top_k[:, None], float("-inf")).softmax(-1)
    before = p.cumsum(-1) - p
    kept = (before < top_p[:, None] + slack) & (p >= min_p[:, None] * p[:, :1] - slack)
    return order, p, (kept & (rank < top_k[:, None])) | (rank == 0)


def sample_tokens(logits, temperature, top_k, top_p, min_p):
    order, p, kept = _kept(logits, temperature, top_k, top_p, min_p)
    drawn = torch.multinomial(p * kept, 1)
    return order.gather(-1, drawn)[:, 0]


def inputs(make, batch, vocabulary, k=None, p=None, m=None):
    """Probabilities fall about as a power of the rank, as words' frequencies do. Every option is up to what is named, and off where none is."""
    rank = make.plain(batch, vocabulary).argsort(-1) + make.plain(batch, vocabulary, low=0.6, high=1.4)
    logits = -make.plain(batch, 1, low=0.8, high=2.0) * rank.log() + make.plain(batch, 1, low=-10.0, high=20.0)
    temperature = make.plain(batch, low=0.5, high=1.5)
    top_k = torch.full((batch,), vocabulary, dtype=torch.int32, device=make.device)
    if k:
        top_k = make.ints(batch, low=(k + 1) // 2, high=k + 1, dtype=torch.int32)
    top_p = make.plain(batch, low=p * 0.9, high=p) if p else torch.ones_like(temperature)
    min_p = make.plain(batch, low=m * 0.5, high=m) if m else torch.zeros_like(temperature)
    return call(logits, temperature, top_k, top_p, min_p)


SLACK = 1e-4
"""Of probabilities at a limit."""
DEVIATIONS = 7
"""Standard deviations that a mean may be off: an honest kernel exceeds it about once in 10¹¹ times."""
KOLMOGOROV = 3.6
"""Largest distance of the empirical distribution, times √n, for a like probability: 2 exp(-2 · 3.6²) = 10⁻¹¹."""
ENOUGH, COMMON, FEW = 200, 25, 10
"""Rows below which places are not looked at, and the least variance of a count for a normal approximation: of the last token kept, and of the
first. A draw of fewer than about 50 rows shows no more than that its tokens are kept."""


def check(args, kwargs, results, expected):
    wide = [arg.double() if arg.is_floating_point() else arg for arg in args]
    order, p, kept = _kept(*wide)
    _, _, wider = _kept(*wide, slack=SLACK)
    rank_of = torch.empty_like(order).scatter_(
        -1, order, torch.arange(order.shape[-1], device=order.device).expand_as(order)
    )
    ranks = []
    for drawn in results:
        if not ((drawn >= 0) & (drawn < order.shape[-1])).all():
            return ["a token lies outside the vocabulary"]
        rank = rank_of.gather(-1, drawn[:, None])
        outside = ~wider.gather(-1, rank)[:, 0]
        if outside.any():
            row = int(outside.nonzero()[0])
            return [
                f"row {row} has token {int(drawn[row])}, the {int(rank[row]) + 1}. by probability, and that one is not kept"
            ]
        ranks.append(rank)
    share = p * kept
    share = share / share.sum(-1, keepdim=True)
    if len(p) < ENOUGH:
        return _first(share, ranks)
    spots = [_spot(share, rank, draw) for draw, rank in enumerate(ranks)]
    complaints = [c for spot in spots for c in _uniform(spot)]
    return complaints + _last(share, kept, ranks) + _fresh(spots)


def _spot(share, rank, draw):
    """Where in the distribution each token lies, at random within its own share: uniform on [0, 1), whatever the distribution."""
    within = torch.rand(len(rank), generator=torch.Generator().manual_seed(draw), dtype=torch.float64).to(share.device)
    mine = share.gather(-1, rank)[:, 0]
    return share.cumsum(-1).gather(-1, rank)[:, 0] - mine * within


def _uniform(spot):
    n = len(spot)
    grid = torch.arange(n, device=spot.device, dtype=torch.float64) / n
    distance = float((spot.sort().values - grid).abs().max()) * n**0.5
    complaints = (
        [] if distance <= KOLMOGOROV + 1 / n**0.5 else [f"not by their probabilities: distance {distance:.1f}/√n"]
    )
    return complaints + _related("neighbouring rows", spot[1:], spot[:-1])


def _first(share, ranks):
    """How often the most probable token was drawn."""
    p = share[:, 0]
    hits = float(sum((rank == 0).sum() for rank in ranks))
    wanted, variance = (len(ranks) * float(x.sum()) for x in (p, p * (1 - p)))
    if variance < FEW or abs(hits - wanted) <= DEVIATIONS * variance**0.5:
        return []
    return [f"the most probable token was drawn {hits:.0f} times, {wanted:.0f} are expected"]


def _last(share, kept, ranks):
    """How often the least probable of the tokens kept was drawn."""
    count = kept.sum(-1, keepdim=True)
    p = share.gather(-1, count - 1)[:, 0] * (count[:, 0] > 1)
    hits = float(sum(((rank == count - 1) & (count > 1)).sum() for rank in ranks))
    wanted, variance = (len(ranks) * float(x.sum()) for x in (p, p * (1 - p)))
    if variance < COMMON or abs(hits - wanted) <= DEVIATIONS * variance**0.5:
        return []
    return [f"the last token kept was drawn {hits:.0f} times, {wanted:.0f} are expected"]


def _related(what, one, two):
    """The products of two independent centred values have mean 0 and deviation 1/12."""
    deviations = float(((one - 0.5) * (two - 0.5)).mean()) * 12 * len(one) ** 0.5
    return [] if abs(deviations) <= DEVIATIONS else [f"{what} are related: {deviations:.1f} standard deviations"]


def _fresh(spots):
    return _related("two calls", spots[0], spots[1]) if len(spots) > 1 else []


CONTRACT = Random(check, strides="contiguous")


def positive_exponential_race(logits, temperature, top_k, top_p, min_p):
    """The largest of probability over an exponential variate is drawn by probability."""
    order, p, kept = _kept(logits, temperature, top_k, top_p, min_p)
    race = (p * kept / torch.empty_like(p).exponential_()).argmax(-1, keepdim=True)
    return order.gather(-1, race)[:, 0]


def _drawn(order, p, kept):
    return order.gather(-1, torch.multinomial(p * kept, 1))[:, 0]


def negative_greedy(logits, temperature, top_k, top_p, min_p):
    return logits.argmax(-1)


def negative_no_temperature(logits, temperature, top_k, top_p, min_p):
    return sample_tokens(logits, torch.ones_like(temperature), top_k, top_p, min_p)


def negative_multiplied_by_temperature(logits, temperature, top_k, top_p, min_p):
    return sample_tokens(logits, 1 / temperature, top_k, top_p, min_p)


def negative_one_more_than_k(logits, temperature, top_k, top_p, min_p):
    return sample_tokens(logits, temperature, (top_k + 1).clamp(max=logits.shape[-1]), top_p, min_p)


def negative_one_less_than_k(logits, temperature, top_k, top_p, min_p):
    return sample_tokens(logits, temperature, (top_k - 1).clamp(min=1), top_p, min_p)


def negative_top_p_of_all_tokens(logits, temperature, top_k, top_p, min_p):
    """Sums up probabilities among all tokens, before top-k."""
    order, p, kept = _kept(logits, temperature, torch.full_like(top_k, logits.shape[-1]), top_p, min_p)
    return _drawn(order, p, kept & (torch.arange(p.shape[-1], device=p.device) < top_k[:, None]))


def negative_top_p_not_reached(logits, temperature, top_k, top_p, min_p):
    """Leaves out the token that reaches the sum."""
    order, p, kept = _kept(logits, temperature, top_k, top_p, min_p)
    within = (p.cumsum(-1) < top_p[:, None]) | (top_p[:, None] == 1)
    within[:, 0] = True
    return _drawn(order, p, kept & within)


def negative_min_p_absolute(logits, temperature, top_k, top_p, min_p):
    """A limit for the probability itself."""
    order, p, kept = _kept(logits, temperature, top_k, top_p, torch.zeros_like(min_p))
    within = p >= min_p[:, None]
    within[:, 0] = True
    return _drawn(order, p, kept & within)


def negative_min_p_ignored(logits, temperature, top_k, top_p, min_p):
    return sample_tokens(logits, temperature, top_k, top_p, torch.zeros_like(min_p))


def negative_uniform(logits, temperature, top_k, top_p, min_p):
    """Any of the tokens kept, whatever its probability."""
    order, p, kept = _kept(logits, temperature, top_k, top_p, min_p)
    return _drawn(order, torch.ones_like(p), kept)


def negative_one_number_for_all_rows(logits, temperature, top_k, top_p, min_p):
    order, p, kept = _kept(logits, temperature, top_k, top_p, min_p)
    share = (p * kept).cumsum(-1)
    drawn = (share < torch.rand((), device=p.device) * share[:, -1:]).sum(-1, keepdim=True)
    return order.gather(-1, drawn)[:, 0]


def negative_same_every_call(logits, temperature, top_k, top_p, min_p):
    order, p, kept = _kept(logits, temperature, top_k, top_p, min_p)
    share = (p * kept).cumsum(-1)
    fixed = torch.rand(len(p), 1, generator=torch.Generator().manual_seed(0)).to(p.device)
    return order.gather(-1, (share < fixed * share[:, -1:]).sum(-1, keepdim=True))[:, 0]
