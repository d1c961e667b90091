"""Binomial random numbers beside a bitwise AND.

`bitwise_and_binomial(input, other, total_count, probs=None, logits=None)`

1. `a = input & other`, bit by bit for integers and logically for booleans. Both are integer or bool tensors of one
   dtype and broadcast to the result's shape.
2. Every element of the result is a binomial random number: how many of `n` independent trials succeed, each with
   probability `probs`, or `1 / (1 + exp(-logits))` if `logits` are given.

The published description can be read in two ways, and a result that follows either is right:

- `n = total_count`, which broadcasts to the result's shape. So do the published code, the list of arguments and the
  example; `a` then has no part in the result. The reference does this.
- `n = a`. So do the published formula and description; `total_count` then has no part in the result.

The result is float32, of the shape of `probs` or `logits`. `total_count` is an integer or float32 tensor that may be
0-dimensional; it and `a` hold whole numbers from 0 to 100. `probs` (values in [0, 1], both ends included) and `logits`
are float32; exactly one of them is given, by name.

The random numbers are the kernel's own choice: distributed as said, independent of the data and of each other, and anew
in each call, so seed from `torch`'s generator or a counter. Inputs may be non-contiguous, expanded or empty. The
strides of the result are free.
"""

import torch

from kbx.suite import Random, call, mask_complaints

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("elementwise", "integer", "random", "broadcast")
DISTRIBUTIONS = ("standard", "uniform", "large")

CASES = [
    dict(shape=(1201,), count=(1201,)),
    dict(shape=(1531,), count=(1531,), logits=True),
    dict(shape=(2011,), count=(2011,)),
    dict(shape=(1031,), count=(1031,), logits=True),
    dict(shape=(1409,), count=(1409,)),
    dict(shape=(1,), count=(1,)),
    dict(shape=(1999,)),
    dict(shape=(1801,), count=(1801,), least=0),
    dict(shape=(1301,), count=(1301,), strided=True),
    dict(shape=(13, 41), other=(13, 1), count=(13, 41), logits=True),
    dict(shape=(1999,), count=(1999,), dtype=torch.bool),
    dict(shape=(1733,), count=(1733,), most=100, whole=torch.int32),
    dict(shape=(0,), count=(0,)),
]

SIZES = [
    dict(shape=(4096,), count=(4096,)),
    dict(shape=(1048576,), count=(1048576,)),
    dict(shape=(8388608,), count=(8388608,)),
    dict(shape=(33554432,), count=(33554432,), most=5),
]


def bitwise_and_binomial(
    input: torch.Tensor,
    other: torch.Tensor,
    total_count: torch.Tensor,
    probs: torch.Tensor = None,
    logits: torch.Tensor = None,
) -> torch.Tensor:
    return torch.distributions.Binomial(total_count, probs=probs, logits=logits).sample()


def inputs(
    make,
    shape,
    other=None,
    count=(),
    least=5,
    most=10,
    logits=False,
    dtype=torch.int32,
    whole=torch.float32,
    strided=False,
):
    """``count`` is the shape of ``total_count``; it, from ``least`` on, ``input`` and ``other`` hold numbers up to ``most``."""
    x, y = _integers(make, shape, dtype, most), _integers(make, other or shape, dtype, most)
    n = make.ints(*count, low=least if count else most, high=most + 1, dtype=whole)
    p = make.plain(*shape) if logits else make.floats(*shape, low=0.04, high=0.96)
    if strided:
        x, y, n, p = (make.strided(t) for t in (x, y, n, p))
    return call(x, y, n, **{"logits" if logits else "probs": p})


def _integers(make, shape, dtype, most):
    if dtype == torch.bool:
        return make.bools(*shape, p=0.8)
    return make.ints(*shape, low=0, high=most + 1, dtype=dtype)


KOLMOGOROV = 3.6
"""Largest distance of the empirical distribution, times √n, for a like probability: 2 exp(-2 · 3.6²) = 10⁻¹¹."""
SAMPLE = 1 << 16
"""Random numbers of a large result that enter the statistics."""


def check(args, kwargs, results, expected):
    """Complaints by the reading that is the reference's, unless the results follow the other one."""
    p = torch.sigmoid(kwargs["logits"].double()) if "logits" in kwargs else kwargs["probs"].double()
    by_count = _complaints(results, args[2].double(), p)
    return by_count and _complaints(results, torch.bitwise_and(*args[:2]).double(), p) and by_count


def _complaints(results, n, p):
    n, p = torch.broadcast_tensors(n, p)
    if not all(((r >= 0) & (r <= n) & (r == r.round())).all() for r in results):
        return ["an element is no whole number from 0 to the number of trials"]
    if not p.numel():
        return []
    n, p = (t.reshape(-1)[:SAMPLE] for t in (n, p))
    return _statistics([r.reshape(-1)[:SAMPLE] for r in results], n, p)


def _statistics(drawn, n, p):
    """Binomial counts become uniform numbers: the distribution function at k, smeared over its step."""
    own = torch.Generator(n.device).manual_seed(1)
    uniform = [_distribution(k.double(), n, p, torch.rand(len(n), generator=own, device=n.device)) for k in drawn]
    complaints = []
    for u in uniform:
        u = u.sort().values
        grid = torch.arange(len(u), dtype=torch.float64, device=u.device) / len(u)
        distance = float((u - grid).abs().max()) * len(u) ** 0.5
        if not distance <= KOLMOGOROV + 1:
            complaints.append(f"not binomial: Kolmogorov-Smirnov distance {distance:.2f}/√n")
    return complaints or mask_complaints([u >= 0.5 for u in uniform], 0.5, p)


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
    return _count_trials(*_counts(total_count, probs, logits))


def positive_trials_are_the_and(input, other, total_count, probs=None, logits=None):
    return torch.binomial(*_counts(input & other, probs, logits))


def _count_trials(n, p, bits=None):
    k = torch.zeros_like(p)
    for trial in range(int(n.max()) if n.numel() else 0):
        k += (torch.rand_like(p if bits is None else bits) < p) & (trial < n)
    return k


def negative_times_and(input, other, total_count, probs=None, logits=None):
    """Random numbers of the counts, multiplied by the AND."""
    return torch.binomial(*_counts(total_count, probs, logits)) * (input & other)


def negative_and_of_the_result(input, other, total_count, probs=None, logits=None):
    k = torch.binomial(*_counts(total_count, probs, logits)).int()
    return (k & (input & other).int()).float()


def negative_no_and(input, other, total_count, probs=None, logits=None):
    """As many trials as ``input`` says."""
    return torch.binomial(*_counts(input, probs, logits))


def negative_or(input, other, total_count, probs=None, logits=None):
    return torch.binomial(*_counts(input | other, probs, logits))


def negative_the_mean(input, other, total_count, probs=None, logits=None):
    n, p = _counts(total_count, probs, logits)
    return torch.round(n * p)


def negative_the_mean_of_the_and(input, other, total_count, probs=None, logits=None):
    n, p = _counts(input & other, probs, logits)
    return torch.round(n * p)


def negative_one_trial(input, other, total_count, probs=None, logits=None):
    n, p = _counts(total_count, probs, logits)
    return n * torch.bernoulli(p)


def negative_counts_failures(input, other, total_count, probs=None, logits=None):
    n, p = _counts(total_count, probs, logits)
    return torch.binomial(n, 1 - p)


def negative_one_trial_too_many(input, other, total_count, probs=None, logits=None):
    n, p = _counts(total_count, probs, logits)
    return torch.minimum(torch.binomial(n + 1, p), n)


def negative_poisson(input, other, total_count, probs=None, logits=None):
    """Right mean, wrong variance."""
    n, p = _counts(total_count, probs, logits)
    return torch.minimum(torch.poisson(n * p), n)


def negative_logits_are_probabilities(input, other, total_count, probs=None, logits=None):
    n, p = _counts(total_count, probs, logits)
    return torch.binomial(n, p if logits is None else logits.clamp(0, 1).expand_as(n))


def negative_same_numbers_every_call(input, other, total_count, probs=None, logits=None):
    n, p = _counts(total_count, probs, logits)
    fixed = torch.rand(101, *p.shape, generator=torch.Generator().manual_seed(0)).to(p.device)
    trial = torch.arange(len(fixed), device=p.device).reshape(-1, *[1] * p.dim())
    return ((fixed < p) & (trial < n)).sum(0).float()


def negative_one_number_per_row(input, other, total_count, probs=None, logits=None):
    """All elements of a row use the same random bits."""
    n, p = _counts(total_count, probs, logits)
    return _count_trials(n, p, p[..., :1])
