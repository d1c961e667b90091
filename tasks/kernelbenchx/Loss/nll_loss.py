"""Negative log-likelihood: minus the log-probability of the right class.

`nll_loss(input, target, weight=None, ignore_index=-100, reduction='mean')`

- `input`: float32 log-probabilities (any numbers; nothing is normalized), `(N, C)` or `(N, C, d1, …)`.
- `target`: int64 class indices in `[0, C)` or equal to `ignore_index`; shape `(N,)` or `(N, d1, …)`.
- `weight`: float32 `(C,)`, one factor per class, or `None` for all ones.

For each target place `n`, with `x` the `C` values there and `t` its class,

    loss_n = -weight[t] · x_t,      and 0 where t == ignore_index.

- `reduction='none'`: the losses, in `target`'s shape.
- `reduction='sum'`: their sum, a 0-dimensional tensor.
- `reduction='mean'`: their sum divided by the sum of `weight[t]` over the places that are not ignored (their number, if
  `weight` is `None`), a 0-dimensional tensor; NaN if all are ignored.

`ignore_index` may be a valid class, which is then ignored. `input` may be non-contiguous and `N` may be 0. Values that
no target points at are never used: they may be NaN or infinite. Sums are float32 or better. The strides of the result
are free.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("loss", "gather", "reduction")

CASES = [
    dict(shape=(517, 45)),
    dict(shape=(131, 10), weighted=True),
    dict(shape=(37, 10), ignored=0.3),
    dict(shape=(1031, 67), weighted=True, ignored=0.3),
    dict(shape=(7, 257)),
    dict(shape=(1, 1)),
    dict(shape=(517, 45), numbers=True),
    dict(shape=(119, 10), weighted=True, ignore_index=3),
    dict(shape=(333, 31), reduction="none", ignored=0.3),
    dict(shape=(333, 31), reduction="sum"),
    dict(shape=(333, 31), strided=True),
    dict(shape=(3, 7, 15, 13), weighted=True, ignored=0.3),
    dict(shape=(19, 7), rest=float("-inf")),
    dict(shape=(0, 5)),
    dict(shape=(7, 5), ignored=1.0),
]

SIZES = [
    dict(shape=(256, 1000)),
    dict(shape=(4096, 1000)),
    dict(shape=(4194304, 21), ignored=0.1),
    dict(shape=(2097152, 64), weighted=True),
]


def magnitude(input, target, weight=None, ignore_index=-100, reduction="mean"):
    """Log-probabilities have one sign, other numbers cancel in the sum."""
    if reduction == "none":
        return None
    losses, factor = _losses(input, target, weight, ignore_index)
    return losses.double().norm() / (factor.sum() if reduction == "mean" and factor.sum() else 1.0)


CONTRACT = Close(scale=magnitude)


def nll_loss(input, target, weight=None, ignore_index=-100, reduction="mean"):
    return F.nll_loss(input, target, weight, ignore_index=ignore_index, reduction=reduction)


def inputs(
    make,
    shape,
    weighted=False,
    ignore_index=-100,
    ignored=0.0,
    reduction="mean",
    numbers=False,
    strided=False,
    rest=None,
):
    """``numbers``: any, which are no logarithms of probabilities; ``rest``: what most values that no target points at are."""
    x = make.floats(*shape) if numbers else torch.log_softmax(make.floats(*shape, low=-4.0, high=4.0), 1)
    places = shape[0], *shape[2:]
    target = make.ints(*places, low=0, high=shape[1])
    if rest is not None:
        x = torch.full_like(x, rest).scatter(1, target.unsqueeze(1), x)
    if ignored:
        target = target.masked_fill(make.bools(*places, p=ignored), ignore_index)
    weight = make.plain(shape[1], low=0.1, high=2.0) if weighted else None
    return call(make.strided(x) if strided else x, target, weight, ignore_index=ignore_index, reduction=reduction)


def _losses(input, target, weight, ignore_index):
    """Losses and weights of the target places."""
    kept = target != ignore_index
    index = torch.where(kept, target, 0)
    picked = input.gather(1, index.unsqueeze(1)).squeeze(1)
    factor = torch.ones_like(picked) if weight is None else weight[index]
    factor = torch.where(kept, factor, 0)
    return torch.where(kept, -factor * picked, 0), factor


def _reduced(losses, divisor, reduction):
    if reduction == "none":
        return losses
    return losses.sum() / divisor if reduction == "mean" else losses.sum()


def positive_gather(input, target, weight=None, ignore_index=-100, reduction="mean"):
    losses, factor = _losses(input, target, weight, ignore_index)
    return _reduced(losses, factor.sum(), reduction)


def positive_masked_columns(input, target, weight=None, ignore_index=-100, reduction="mean"):
    """One class after the other: the values at the places of that class."""
    losses, total = torch.zeros(target.shape, device=input.device), torch.zeros((), device=input.device)
    for c, values in enumerate(input.unbind(1)):
        hit = (target == c) & (target != ignore_index)
        factor = 1.0 if weight is None else weight[c]
        losses = torch.where(hit, -factor * values, losses)
        total = total + factor * hit.sum()
    return _reduced(losses, total, reduction)


def negative_not_negated(input, target, weight=None, ignore_index=-100, reduction="mean"):
    return -F.nll_loss(input, target, weight, ignore_index=ignore_index, reduction=reduction)


def negative_mean_over_count(input, target, weight=None, ignore_index=-100, reduction="mean"):
    """Divides by the number of places, whatever their weight."""
    losses, _ = _losses(input, target, weight, ignore_index)
    return _reduced(losses, target.numel(), reduction)


def negative_ignores_weight(input, target, weight=None, ignore_index=-100, reduction="mean"):
    return F.nll_loss(input, target, ignore_index=ignore_index, reduction=reduction)


def negative_default_ignore_index(input, target, weight=None, ignore_index=-100, reduction="mean"):
    return F.nll_loss(input, target, weight, reduction=reduction)


def negative_class_zero_when_ignored(input, target, weight=None, ignore_index=-100, reduction="mean"):
    losses, factor = _losses(input, torch.where(target == ignore_index, 0, target), weight, -100)
    return _reduced(losses, factor.sum(), reduction)


def negative_normalizes_first(input, target, weight=None, ignore_index=-100, reduction="mean"):
    """Takes the values for scores, as cross-entropy does."""
    return F.cross_entropy(input, target, weight, ignore_index=ignore_index, reduction=reduction)


def negative_last_dimension_is_the_class(input, target, weight=None, ignore_index=-100, reduction="mean"):
    if input.dim() < 3:
        return F.nll_loss(input, target, weight, ignore_index=ignore_index, reduction=reduction)
    x = input.reshape(input.shape[0], *input.shape[2:], input.shape[1]).movedim(-1, 1)
    return F.nll_loss(x, target, weight, ignore_index=ignore_index, reduction=reduction)
