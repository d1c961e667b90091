"""Cross-entropy of class scores; beside it, their softmax with layer normalization.

`fused_cross_entropy_softmax_layernorm(logits, targets, normalized_shape, weight=None, ignore_index=-100,
reduction='mean', label_smoothing=0.0, eps=1e-5, *, out=None)` returns a tuple `(loss, output)`.

`logits` is float32 of shape `(N, C)` or `(N, C, d1, …)`.

**loss.** The classes lie along dimension 1. With `q = logits - log(sum over classes of exp(logits))`, the smoothing
`e = label_smoothing`, and `weight`: float32 `(C,)` or `None` for all ones, the loss of each place `n` is

- for int64 `targets`, class indices `t` in `[0, C)` or `ignore_index`, of shape `(N,)` or `(N, d1, …)`:
  `-(1 - e) · weight[t] · q_t - (e / C) · sum over c of weight[c] · q_c`, and 0 where `t == ignore_index`;
- for float32 `targets` of `logits`' shape, probabilities `y`:
  `-sum over c of weight[c] · ((1 - e) · y_c + e / C) · q_c`; `ignore_index` has no effect.

`reduction='none'` returns the losses, `'sum'` their sum, and `'mean'` their sum divided by the sum of `weight[t]` over
the places that are not ignored (indices; NaN if all are ignored) or by the number of places (probabilities); sums are
0-dimensional.

**output.** `s = softmax(logits)` over the *last* dimension, which is the classes' only for `(N, C)`. Then
`output = (s - μ) / sqrt(σ² + eps)`, with mean and *biased* variance over the trailing dimensions `normalized_shape`: an
int, or a tuple or list that equals the last dimensions of `logits`. It has `logits`' shape. `out`: if given, a
contiguous tensor of that shape; it is filled and returned as `output`.

Values reach several hundred: subtract the largest before `exp`. Inputs may be non-contiguous. Sums are float32 or
better. The strides of new results are free.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("loss", "softmax", "normalization", "reduction", "fusion")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(37, 45), normalized_shape=45),
    dict(shape=(19, 10), normalized_shape=10, weighted=True, label_smoothing=0.1),
    dict(shape=(33, 71), normalized_shape=71, label_smoothing=0.1, out=True),
    dict(shape=(23, 31), normalized_shape=31, weighted=True, ignored=0.3),
    dict(shape=(7, 1031), normalized_shape=1031),
    dict(shape=(1, 1), normalized_shape=1),
    dict(shape=(29, 13), normalized_shape=13, strided=True),
    dict(shape=(33, 37), normalized_shape=[33, 37]),
    dict(shape=(3, 7, 5, 11), normalized_shape=11, weighted=True, ignored=0.3),
    dict(shape=(17, 23), normalized_shape=23, eps=1e-2),
    dict(shape=(21, 12), normalized_shape=12, weighted=True, reduction="none"),
    dict(shape=(19, 10), normalized_shape=10, weighted=True, ignore_index=3),
    dict(shape=(23, 31), normalized_shape=31, probabilities=True, weighted=True, label_smoothing=0.1),
    dict(shape=(6, 5), normalized_shape=5, ignored=1.0),
    dict(shape=(0, 5), normalized_shape=5, reduction="sum"),
]

SIZES = [
    dict(shape=(256, 1024), normalized_shape=1024),
    dict(shape=(4096, 1024), normalized_shape=1024),
    dict(shape=(32768, 1024), normalized_shape=1024, label_smoothing=0.1),
    dict(shape=(16384, 4096), normalized_shape=4096),
]


def magnitude(
    logits, targets, normalized_shape, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0,
    eps=1e-05, *, out=None,
):  # fmt: skip
    """A loss is a difference of scores: where it is small it carries their rounding, and that of x / log(2) before exp2."""
    finite = logits[logits.isfinite()]
    return 1 + float(finite.norm()) / max(1, finite.numel()) ** 0.5


CONTRACT = Close(scale=magnitude)


def fused_cross_entropy_softmax_layernorm(
    logits,
    targets,
    normalized_shape,
    weight=None,
    ignore_index=-100,
    reduction="mean",
    label_smoothing=0.0,
    eps=1e-05,
    *,
    out=None,
):
    loss = F.cross_entropy(
        logits, targets, weight, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing
    )
    return loss, _output(logits, normalized_shape, eps, out)


def _output(logits, normalized_shape, eps, out, dim=-1):
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
    output = F.layer_norm(F.softmax(logits, dim), shape, eps=eps)
    return output if out is None else out.copy_(output)


def inputs(
    make, shape, normalized_shape, weighted=False, ignore_index=-100, ignored=0.0, reduction="mean",
    label_smoothing=0.0, eps=1e-5, probabilities=False, strided=False, out=False,
):  # fmt: skip
    x, places = make.floats(*shape), (shape[0], *shape[2:])
    if probabilities:
        targets = torch.softmax(make.plain(*shape) * 2, 1)
    else:
        targets = make.ints(*places, low=0, high=shape[1])
        targets = targets.masked_fill(make.bools(*places, p=ignored), ignore_index) if ignored else targets
    return call(
        make.strided(x) if strided else x, targets, normalized_shape,
        weight=make.plain(shape[1], low=0.1, high=0.3) if weighted else None,
        ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing, eps=eps,
        out=make.plain(*shape) if out else None,
    )  # fmt: skip


def _loss(logits, targets, weight, ignore_index, reduction, smoothing, stable=True):
    """By formula, the classes moved to the end."""
    x = logits.movedim(1, -1)
    top = x.amax(-1, keepdim=True) if stable else 0.0
    q = (x - top) - (x - top).exp().sum(-1, keepdim=True).log()
    w, c = torch.ones(q.shape[-1], device=q.device) if weight is None else weight, q.shape[-1]
    if targets.is_floating_point():
        losses = -(w * ((1 - smoothing) * targets.movedim(1, -1) + smoothing / c) * q).sum(-1)
        divisor = losses.numel()
    else:
        kept = targets != ignore_index
        t = torch.where(kept, targets, 0)
        losses = -(1 - smoothing) * w[t] * q.gather(-1, t.unsqueeze(-1)).squeeze(-1) - smoothing / c * (w * q).sum(-1)
        losses, divisor = torch.where(kept, losses, 0), torch.where(kept, w[t], 0).sum()
    if reduction == "none":
        return losses
    return losses.sum() / divisor if reduction == "mean" else losses.sum()


def positive_by_formula(
    logits, targets, normalized_shape, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0,
    eps=1e-05, *, out=None,
):  # fmt: skip
    loss = _loss(logits, targets, weight, ignore_index, reduction, label_smoothing)
    dims = tuple(range(-1 if isinstance(normalized_shape, int) else -len(normalized_shape), 0))
    e = (logits - logits.amax(-1, keepdim=True)).exp() if logits.numel() else logits
    s = e / e.sum(-1, keepdim=True)
    centred = s - s.mean(dims, keepdim=True)
    output = centred / (centred.square().mean(dims, keepdim=True) + eps).sqrt()
    return loss, output if out is None else out.copy_(output)


def negative_no_max_subtraction(
    logits, targets, normalized_shape, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0,
    eps=1e-05, *, out=None,
):  # fmt: skip
    loss = _loss(logits, targets, weight, ignore_index, reduction, label_smoothing, stable=False)
    return loss, _output(logits, normalized_shape, eps, out)


def negative_softmax_over_classes(
    logits, targets, normalized_shape, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0,
    eps=1e-05, *, out=None,
):  # fmt: skip
    loss = _loss(logits, targets, weight, ignore_index, reduction, label_smoothing)
    return loss, _output(logits, normalized_shape, eps, out, dim=1)


def negative_default_eps(
    logits, targets, normalized_shape, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0,
    eps=1e-05, *, out=None,
):  # fmt: skip
    loss = _loss(logits, targets, weight, ignore_index, reduction, label_smoothing)
    return loss, _output(logits, normalized_shape, 1e-5, out)


def negative_last_dimension_only(
    logits, targets, normalized_shape, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0,
    eps=1e-05, *, out=None,
):  # fmt: skip
    loss = _loss(logits, targets, weight, ignore_index, reduction, label_smoothing)
    return loss, _output(logits, logits.shape[-1], eps, out)


def negative_no_smoothing(
    logits, targets, normalized_shape, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0,
    eps=1e-05, *, out=None,
):  # fmt: skip
    loss = _loss(logits, targets, weight, ignore_index, reduction, 0.0)
    return loss, _output(logits, normalized_shape, eps, out)


def negative_ignores_weight(
    logits, targets, normalized_shape, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0,
    eps=1e-05, *, out=None,
):  # fmt: skip
    loss = _loss(logits, targets, None, ignore_index, reduction, label_smoothing)
    return loss, _output(logits, normalized_shape, eps, out)


def negative_default_ignore_index(
    logits, targets, normalized_shape, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0,
    eps=1e-05, *, out=None,
):  # fmt: skip
    loss = _loss(logits, targets, weight, -100, reduction, label_smoothing)
    return loss, _output(logits, normalized_shape, eps, out)


def negative_softmax_not_normalized(
    logits, targets, normalized_shape, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0,
    eps=1e-05, *, out=None,
):  # fmt: skip
    loss = _loss(logits, targets, weight, ignore_index, reduction, label_smoothing)
    s = F.softmax(logits, -1)
    return loss, s if out is None else out.copy_(s)


def negative_ignores_out(
    logits, targets, normalized_shape, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0,
    eps=1e-05, *, out=None,
):  # fmt: skip
    loss = _loss(logits, targets, weight, ignore_index, reduction, label_smoothing)
    return loss, _output(logits, normalized_shape, eps, None)
