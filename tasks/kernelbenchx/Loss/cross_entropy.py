"""Cross-entropy of class scores against class indices.

`cross_entropy(input, target, weight=None, ignore_index=-100, reduction='mean')`

- `input`: unnormalized float32 scores, `(N, C)` or `(N, C, d1, …)`.
- `target`: int64 class indices in `[0, C)` or equal to `ignore_index`; shape `(N,)` or `(N, d1, …)`.
- `weight`: float32 `(C,)`, one factor per class, or `None` for all ones.

For each target place `n`, with `x` the `C` scores there and `t` its class,

    loss_n = weight[t] · (log(sum over c of exp(x_c)) - x_t),      and 0 where t == ignore_index.

- `reduction='none'`: the losses, in `target`'s shape.
- `reduction='sum'`: their sum, a 0-dimensional tensor.
- `reduction='mean'`: their sum divided by the sum of `weight[t]` over the places that are not ignored (their number, if
  `weight` is `None`), a 0-dimensional tensor; NaN if all are ignored.

Scores reach several hundred: subtract the largest before `exp`. `ignore_index` may be a valid class, which is then
ignored. `input` may be non-contiguous and `N` may be 0. Sums are float32 or better.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("loss", "softmax", "reduction")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(37, 45)),
    dict(shape=(131, 10), ignored=0.3),
    dict(shape=(1031, 67)),
    dict(shape=(3, 7, 5, 3), ignored=0.3),
    dict(shape=(2, 10, 9, 17)),
    dict(shape=(1, 1)),
    dict(shape=(19, 10), ignore_index=3),
    dict(shape=(3, 7, 5, 3), weighted=True, ignored=0.3),
    dict(shape=(33, 131), reduction="sum"),
    dict(shape=(33, 131), weighted=True, ignored=0.3, reduction="none"),
    dict(shape=(33, 131), strided=True),
    dict(shape=(3, 7, 11), ignored=0.3),
    dict(shape=(0, 5)),
    dict(shape=(7, 5), ignored=1.0),
]

SIZES = [
    dict(shape=(256, 1000)),
    dict(shape=(4096, 1000)),
    dict(shape=(32768, 1000)),
    dict(shape=(8192, 32000), ignored=0.1),
]


def magnitude(input, target, weight=None, ignore_index=-100, reduction="mean"):
    """A loss is a difference of scores: where it is small it carries their rounding, and that of x / log(2) before exp2."""
    return 1 + float(input.norm()) / max(1, input.numel()) ** 0.5


CONTRACT = Close(scale=magnitude)


def cross_entropy(input, target, weight=None, ignore_index=-100, reduction="mean"):
    return F.cross_entropy(input, target, weight, ignore_index=ignore_index, reduction=reduction)


def inputs(make, shape, weighted=False, ignore_index=-100, ignored=0.0, reduction="mean", strided=False):
    x = make.floats(*shape)
    places = shape[0], *shape[2:]
    target = make.ints(*places, low=0, high=shape[1])
    if ignored:
        target = target.masked_fill(make.bools(*places, p=ignored), ignore_index)
    weight = make.plain(shape[1], low=0.1, high=2.0) if weighted else None
    return call(make.strided(x) if strided else x, target, weight, ignore_index=ignore_index, reduction=reduction)


def _losses(input, target, weight, ignore_index, stable=True):
    """Losses and weights of the target places."""
    top = input.amax(1, keepdim=True) if stable else torch.zeros_like(input.narrow(1, 0, 1))
    log_sum = (input - top).exp().sum(1).log() + top.squeeze(1)
    kept = target != ignore_index
    index = torch.where(kept, target, 0)
    picked = input.gather(1, index.unsqueeze(1)).squeeze(1)
    factor = torch.ones_like(picked) if weight is None else weight[index]
    factor = factor * kept
    return torch.where(kept, factor * (log_sum - picked), 0), factor


def _reduced(losses, divisor, reduction):
    if reduction == "none":
        return losses
    return losses.sum() / divisor if reduction == "mean" else losses.sum()


def positive_log_sum_exp(input, target, weight=None, ignore_index=-100, reduction="mean"):
    losses, factor = _losses(input, target, weight, ignore_index)
    return _reduced(losses, factor.sum(), reduction)


def positive_base_two(input, target, weight=None, ignore_index=-100, reduction="mean"):
    """Scores divided by log(2) first, for exp2 and log2."""
    scores = input * 1.4426950408889634
    top = scores.amax(1, keepdim=True)
    log_sum = ((scores - top).exp2().sum(1).log2() + top.squeeze(1)) * 0.6931471805599453
    kept = target != ignore_index
    index = torch.where(kept, target, 0)
    factor = kept.to(input.dtype) if weight is None else weight[index] * kept
    losses = factor * (log_sum - input.gather(1, index.unsqueeze(1)).squeeze(1))
    return _reduced(losses, factor.sum(), reduction)


def negative_no_max_subtraction(input, target, weight=None, ignore_index=-100, reduction="mean"):
    losses, factor = _losses(input, target, weight, ignore_index, stable=False)
    return _reduced(losses, factor.sum(), reduction)


def negative_mean_over_count(input, target, weight=None, ignore_index=-100, reduction="mean"):
    """Divides by the number of places, whatever their weight."""
    losses, _ = _losses(input, target, weight, ignore_index)
    return _reduced(losses, target.numel(), reduction)


def negative_ignores_weight(input, target, weight=None, ignore_index=-100, reduction="mean"):
    return F.cross_entropy(input, target, ignore_index=ignore_index, reduction=reduction)


def negative_default_ignore_index(input, target, weight=None, ignore_index=-100, reduction="mean"):
    return F.cross_entropy(input, target, weight, reduction=reduction)


def negative_class_zero_when_ignored(input, target, weight=None, ignore_index=-100, reduction="mean"):
    losses, factor = _losses(input, torch.where(target == ignore_index, 0, target), weight, -100)
    return _reduced(losses, factor.sum(), reduction)
