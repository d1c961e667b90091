"""Logarithm of softmax along a dimension, then cross-entropy over the classes.

`fused_cross_entropy_log_softmax(input, target, dim=1, weight=None, ignore_index=-100, reduction='mean',
label_smoothing=0.0)`

1. `s = input - log(sum of exp(input))`, the sum over dimension `dim`: 0 or 1, or -2 or -1.
2. Cross-entropy takes `s` as scores: `q = s - log(sum over classes of exp(s))`. The classes lie along dimension
   1; if `dim` is that dimension, `q = s`, otherwise both normalizations matter.
3. The loss of each place `n`, with the smoothing `e = label_smoothing` and `C` classes:
   - `target` is int64: class indices `t` in `[0, C)` or `ignore_index`, of shape `(N,)`;
     `loss_n = -(1 - e) · weight[t] · q_t - (e / C) · sum over c of weight[c] · q_c`, and 0 where `t == ignore_index`.
   - `target` is float32 of `input`'s shape: probabilities `y`, not necessarily normalized; `ignore_index` has no
     effect; `loss_n = -sum over c of weight[c] · ((1 - e) · y_c + e / C) · q_c`.

- `input`: float32 `(N, C)`. `weight`: float32 `(C,)`, or `None` for all ones.
- `reduction='none'`: the losses, of shape `(N,)`.
- `reduction='sum'`: their sum, a 0-dimensional tensor.
- `reduction='mean'`: for indices, the sum divided by the sum of `weight[t]` over the places that are not ignored (their
  number, if `weight` is `None`); NaN if all are ignored. For probabilities, the sum divided by the number of places.

Values reach several hundred: subtract the largest before `exp`. `input` may be non-contiguous. Sums are float32 or
better.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("loss", "softmax", "reduction", "fusion")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(37, 45)),
    dict(shape=(19, 10), weighted=True, label_smoothing=0.1),
    dict(shape=(33, 7), weighted=True, reduction="sum"),
    dict(shape=(131, 17), reduction="sum", label_smoothing=0.1),
    dict(shape=(7, 1031), label_smoothing=0.1),
    dict(shape=(1, 1)),
    dict(shape=(23, 31), weighted=True, strided=True),
    dict(shape=(33, 71), dim=0),
    dict(shape=(19, 11), weighted=True, reduction="none", label_smoothing=0.1),
    dict(shape=(29, 10), weighted=True, ignore_index=3),
    dict(shape=(35, 13), weighted=True, ignored=0.3, label_smoothing=0.1),
    dict(shape=(35, 13), label_smoothing=0.25),
    dict(shape=(23, 31), probabilities=True, weighted=True, label_smoothing=0.1),
    dict(shape=(19, 9), dim=-2, probabilities=True, reduction="sum"),
    dict(shape=(6, 5), ignored=1.0),
]

SIZES = [
    dict(shape=(4096, 128)),
    dict(shape=(262144, 128)),
    dict(shape=(16384, 4096), label_smoothing=0.1),
    dict(shape=(1048576, 128)),
]


def magnitude(input, target, dim=1, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    """A loss is a difference of scores: where it is small it carries their rounding, and that of x / log(2) before exp2."""
    return 1 + float(input.norm()) / max(1, input.numel()) ** 0.5


CONTRACT = Close(scale=magnitude)


def fused_cross_entropy_log_softmax(
    input: torch.Tensor,
    target: torch.Tensor,
    dim: int = 1,
    weight: torch.Tensor = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> torch.Tensor:
    s = F.log_softmax(input, dim)
    return F.cross_entropy(
        s, target, weight, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing
    )


def inputs(
    make, shape, dim=1, weighted=False, ignore_index=-100, ignored=0.0, reduction="mean", label_smoothing=0.0,
    probabilities=False, strided=False,
):  # fmt: skip
    x, (places, classes) = make.floats(*shape), shape
    if probabilities:
        target = torch.softmax(make.plain(*shape) * 2, 1)
    else:
        target = make.ints(places, low=0, high=classes)
        target = target.masked_fill(make.bools(places, p=ignored), ignore_index) if ignored else target
    return call(
        make.strided(x) if strided else x, target, dim=dim,
        weight=make.plain(classes, low=0.5, high=2.0) if weighted else None,
        ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing,
    )  # fmt: skip


def _log_softmax(x, dim, stable=True):
    top = x.amax(dim, keepdim=True) if stable else 0.0
    return (x - top) - (x - top).exp().sum(dim, keepdim=True).log()


def _loss(q, target, weight, ignore_index, reduction, smoothing, over_count=False):
    """By formula from log-probabilities."""
    w, c = torch.ones(q.shape[-1], device=q.device) if weight is None else weight, q.shape[-1]
    if target.is_floating_point():
        y = (1 - smoothing) * target + smoothing / c
        losses = -(w * y * q).sum(-1)
        divisor = losses.numel()
    else:
        kept = target != ignore_index
        t = torch.where(kept, target, 0)
        losses = -(1 - smoothing) * w[t] * q.gather(-1, t.unsqueeze(-1)).squeeze(-1) - smoothing / c * (w * q).sum(-1)
        losses = torch.where(kept, losses, 0)
        divisor = target.numel() if over_count else torch.where(kept, w[t], 0).sum()
    if reduction == "none":
        return losses
    return losses.sum() / divisor if reduction == "mean" else losses.sum()


def positive_by_formula(input, target, dim=1, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    q = _log_softmax(_log_softmax(input, dim), 1)
    return _loss(q, target, weight, ignore_index, reduction, label_smoothing)


def positive_normalizes_once_where_that_does(
    input, target, dim=1, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0
):
    q = _log_softmax(input, dim)
    q = q if dim in (1, -1) else _log_softmax(q, 1)
    return _loss(q, target, weight, ignore_index, reduction, label_smoothing)


def negative_classes_only(input, target, dim=1, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    q = _log_softmax(input, 1)
    return _loss(q, target, weight, ignore_index, reduction, label_smoothing)


def negative_normalizes_along_dim_only(
    input, target, dim=1, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0
):
    return _loss(_log_softmax(input, dim), target, weight, ignore_index, reduction, label_smoothing)


def negative_no_max_subtraction(
    input, target, dim=1, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0
):
    q = _log_softmax(_log_softmax(input, dim, stable=False), 1)
    return _loss(q, target, weight, ignore_index, reduction, label_smoothing)


def negative_no_smoothing(input, target, dim=1, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    q = _log_softmax(_log_softmax(input, dim), 1)
    return _loss(q, target, weight, ignore_index, reduction, 0.0)


def negative_unweighted_smoothing(
    input, target, dim=1, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0
):
    """Forgets the weights of the classes that smoothing brings in."""
    q = _log_softmax(_log_softmax(input, dim), 1)
    weighted = _loss(q, target, weight, ignore_index, reduction, 0.0)
    both = _loss(q, target, None, ignore_index, reduction, label_smoothing)
    return (
        (1 - label_smoothing) * weighted
        + both
        - (1 - label_smoothing) * _loss(q, target, None, ignore_index, reduction, 0.0)
    )


def negative_ignores_weight(
    input, target, dim=1, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0
):
    q = _log_softmax(_log_softmax(input, dim), 1)
    return _loss(q, target, None, ignore_index, reduction, label_smoothing)


def negative_mean_over_count(
    input, target, dim=1, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0
):
    q = _log_softmax(_log_softmax(input, dim), 1)
    return _loss(q, target, weight, ignore_index, reduction, label_smoothing, over_count=True)


def negative_default_ignore_index(
    input, target, dim=1, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0
):
    q = _log_softmax(_log_softmax(input, dim), 1)
    return _loss(q, target, weight, -100, reduction, label_smoothing)
