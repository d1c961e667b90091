"""Bitwise AND of two tensors, multiplied by binomial random numbers.

`bitwise_and_binomial(input, other, total_count, probs=None, logits=None)`

1. `a = input & other`, bit by bit for integers and logically for booleans. Both are integer or bool tensors of one
   dtype and broadcast.
2. `k`: for every element of the shape to which `total_count` and `probs` (or `logits`) broadcast, a binomial random
   number: how many of `total_count` independent trials succeed, each with probability `probs`, or
   `1 / (1 + exp(-logits))` if `logits` are given.
3. The result is `k · a` as float32, of the shape to which `k` and `a` broadcast. Where `k` is broadcast, its one draw
   counts for all.

`total_count` is an integer or float32 tensor that holds whole numbers from 0 to 100 and may be 0-dimensional; `probs`
(values in [0, 1], both ends included) and `logits` are float32; exactly one of them is given. The products are exact in
float32.

The random numbers are the kernel's own choice: distributed as said, independent of the data and of each other, and anew
in each call, so seed from `torch`'s generator or a counter. Inputs may be non-contiguous, expanded or empty. The
strides of the result are free.
"""

import torch

from kbx.suite import Random, call, mask_complaints

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("elementwise", "integer", "random", "broadcast")
TESTED = ("option:logits", "option:probs")
DISTRIBUTIONS = ("standard", "uniform", "large")

CASES = [
    dict(shape=(1,)),
    dict(shape=(2011,)),
    dict(shape=(37, 67), count=(37, 1), most=40, dtype=torch.int8, strided=True),
    dict(shape=(5, 13, 41), other=(13, 1), logits=True, most=3, dtype=torch.int64),
    dict(shape=(1201,), count=(1201,), most=40, logits=True, whole=torch.float32),
    dict(shape=(45, 71), dtype=torch.bool, count=(45, 71), most=1),
    dict(shape=(4, 1553), chances=(1553,), count=(1553,), dtype=torch.uint8, most=12),
    dict(shape=(33, 5), chances=(7, 33, 5), most=30, whole=torch.int32),
    dict(shape=(0, 9), other=(9,)),
]

SIZES = [
    dict(shape=(4096,)),
    dict(shape=(1048576,)),
    dict(shape=(8388608,)),
    dict(shape=(33554432,), most=5),
]


def bitwise_and_binomial(
    input: torch.Tensor,
    other: torch.Tensor,
    total_count: torch.Tensor,
    probs: torch.Tensor = None,
    logits: torch.Tensor = None,
) -> torch.Tensor:
    counts = torch.distributions.Binomial(total_count, probs=probs, logits=logits)
    return counts.sample() * torch.bitwise_and(input, other)


def inputs(
    make, shape, other=None, count=(), chances=None, most=10, logits=False, dtype=torch.int32, whole=torch.int64,
    strided=False,
):  # fmt: skip
    """``count`` and ``chances`` are the shapes of ``total_count`` (numbers up to ``most``) and of the probabilities."""
    x, y = _integers(make, shape, dtype), _integers(make, other or shape, dtype)
    n = make.ints(*count, low=0, high=most + 1, dtype=whole) if count else torch.tensor(most, device=x.device).to(whole)
    p = make.plain(*(chances or shape)) * 2 if logits else make.floats(*(chances or shape), low=0.0, high=1.0)
    if strided:
        x, y, n, p = (make.strided(t) for t in (x, y, n, p))
    return call(x, y, n, **{"logits" if logits else "probs": p})


def _integers(make, shape, dtype):
    if dtype == torch.bool:
        return make.bools(*shape, p=0.8)
    return make.ints(*shape, low=0 if dtype == torch.uint8 else -128, high=128, dtype=dtype)


KOLMOGOROV = 3.6
"""Largest distance of the empirical distribution, times √n, for a like probability: 2 exp(-2 · 3.6²) = 10⁻¹¹."""
SAMPLE = 1 << 16
"""Random numbers of a large result that enter the statistics."""


def check(args, kwargs, results, expected):
    a, n = torch.bitwise_and(*args[:2]), args[2].double()
    p = torch.sigmoid(kwargs["logits"].double()) if "logits" in kwargs else kwargs["probs"].double()
    n, p = torch.broadcast_tensors(n, p)
    counts = []
    for r in results:
        k = torch.round(r / a)
        k = torch.where(a == 0, 0, k) if r.numel() else r
        if not torch.equal(k * a, r):
            return ["an element is no multiple of the bitwise AND"]
        if not ((k >= 0) & (k <= n)).all():
            return ["a count lies outside 0 to total_count"]
        counts.append(k)
    if not results[0].numel():
        return []
    # Where one random number is broadcast, the copies with a = 0 do not show it, and the others must agree.
    shown = (a != 0).expand(results[0].shape)
    drawn = [_one_of_each(k, shown, p.shape) for k in counts]
    if any((k.expand(shown.shape) != full)[shown].any() for k, full in zip(drawn, counts, strict=True)):
        return ["copies of one random number differ"]
    seen = _one_of_each(shown.float(), shown, p.shape).bool().reshape(-1)
    n, p, seen = (t.reshape(-1)[:SAMPLE] for t in (n, p, seen))
    return _statistics([k.reshape(-1)[:SAMPLE] for k in drawn], n, p, seen)


def _one_of_each(values, shown, shape):
    """The largest of the shown values that stand for one element of ``shape``: of equal ones, any."""
    values = torch.where(shown, values, -1.0)
    lead = values.dim() - len(shape)
    dims = [d for d in range(values.dim()) if d < lead or shape[d - lead] != values.shape[d]]
    return (values.amax(dims, keepdim=True) if dims else values).reshape(shape).clamp(min=0)


def _statistics(drawn, n, p, seen):
    """Binomial counts become uniform numbers: the distribution function at k, smeared over its step."""
    own = torch.Generator(n.device).manual_seed(1)
    uniform = [_distribution(k.double(), n, p, torch.rand(len(n), generator=own, device=n.device)) for k in drawn]
    complaints = []
    for u in uniform:
        u = u[seen].sort().values
        grid = torch.arange(len(u), dtype=torch.float64, device=u.device) / max(1, len(u))
        distance = float((u - grid).abs().max()) * len(u) ** 0.5 if len(u) else 0.0
        if not distance <= KOLMOGOROV + 1:
            complaints.append(f"not binomial: Kolmogorov-Smirnov distance {distance:.2f}/√n")
    return complaints or mask_complaints([u >= 0.5 for u in uniform], 0.5, p, seen)


def _distribution(k, n, p, between):
    """P(smaller than k) + between · P(k), from the probabilities of 0 to 100 side by side."""
    j = torch.arange(int(n.max()) + 1, dtype=torch.float64, device=n.device)
    factorial = torch.lgamma(j + 1)
    rest = (n[:, None] - j).clamp(min=0)
    logs = factorial[n.long(), None] - factorial - factorial[rest.long()]
    chances = torch.exp(logs + torch.xlogy(j, p[:, None]) + torch.xlogy(rest, 1 - p[:, None]))
    chances = torch.where(j <= n[:, None], chances, 0)
    return (chances * (j < k[:, None])).sum(1) + between * (chances * (j == k[:, None])).sum(1)


CONTRACT = Random(check)


def _counts(total_count, probs, logits):
    p = torch.sigmoid(logits) if probs is None else probs
    return torch.broadcast_tensors(total_count.to(p.dtype), p)


def positive_counts_trials(input, other, total_count, probs=None, logits=None):
    n, p = _counts(total_count, probs, logits)
    k = torch.zeros_like(p)
    for trial in range(int(n.max()) if n.numel() else 0):
        k += (torch.rand_like(p) < p) & (trial < n)
    return k * (input & other)


def negative_no_and(input, other, total_count, probs=None, logits=None):
    n, p = _counts(total_count, probs, logits)
    return torch.binomial(n, p) * input


def negative_or(input, other, total_count, probs=None, logits=None):
    n, p = _counts(total_count, probs, logits)
    return torch.binomial(n, p) * (input | other)


def negative_the_mean(input, other, total_count, probs=None, logits=None):
    n, p = _counts(total_count, probs, logits)
    return torch.round(n * p) * (input & other)


def negative_one_trial(input, other, total_count, probs=None, logits=None):
    n, p = _counts(total_count, probs, logits)
    return n * torch.bernoulli(p) * (input & other)


def negative_counts_failures(input, other, total_count, probs=None, logits=None):
    n, p = _counts(total_count, probs, logits)
    return torch.binomial(n, 1 - p) * (input & other)


def negative_one_trial_too_many(input, other, total_count, probs=None, logits=None):
    n, p = _counts(total_count, probs, logits)
    return torch.minimum(torch.binomial(n + 1, p), n) * (input & other)


def negative_poisson(input, other, total_count, probs=None, logits=None):
    """Right mean, wrong variance."""
    n, p = _counts(total_count, probs, logits)
    return torch.minimum(torch.poisson(n * p), n) * (input & other)


def negative_logits_are_probabilities(input, other, total_count, probs=None, logits=None):
    n, p = _counts(total_count, probs, logits)
    return torch.binomial(n, p if logits is None else logits.clamp(0, 1).expand_as(n)) * (input & other)


def negative_same_numbers_every_call(input, other, total_count, probs=None, logits=None):
    n, p = _counts(total_count, probs, logits)
    fixed = torch.rand(101, *p.shape, generator=torch.Generator().manual_seed(0)).to(p.device) if p.numel() else p[None]
    trial = torch.arange(len(fixed), device=p.device).reshape(-1, *[1] * p.dim())
    return ((fixed < p) & (trial < n)).sum(0) * (input & other).float()


def negative_one_number_per_row(input, other, total_count, probs=None, logits=None):
    """All elements of a row use the same random bits."""
    n, p = _counts(total_count, probs, logits)
    k = torch.zeros_like(p)
    for trial in range(int(n.max()) if n.numel() else 0):
        k += (torch.rand_like(p[..., :1]) < p) & (trial < n)
    return k * (input & other)
