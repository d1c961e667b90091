"""Kullback-Leibler divergence of two distributions, the first given by its logarithms.

`kl_div(input, target, reduction='batchmean', log_target=False)`

`input` and `target` are float32 tensors of one shape. With `x` from `input` (logarithms, finite) and `t` from `target`,
the loss of an element is

    t · (log(t) - x)        if not log_target; t ≥ 0, and the loss is 0 where t = 0,
    exp(t) · (t - x)        if log_target: t is a logarithm, too, and finite.

- `reduction='none'`: the losses, in `input`'s shape.
- `reduction='sum'`: their sum, a 0-dimensional tensor.
- `reduction='batchmean'`: their sum divided by the size of dimension 0.
- `reduction='mean'`: their sum divided by the number of all elements.

Neither tensor need be normalized, so single losses and their sum may be negative. Both may be non-contiguous, and empty
where nothing is divided by 0. Sums are float32 or better. The strides of the result are free.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("loss", "reduction", "elementwise", "memory-bound")

CASES = [
    dict(shape=(37, 45)),
    dict(shape=(19, 67), reduction="none"),
    dict(shape=(7, 131), log_target=True),
    dict(shape=(131, 31)),
    dict(shape=(5, 257), reduction="none"),
    dict(shape=(1, 1)),
    dict(shape=(37, 45), zeros=True),
    dict(shape=(19, 67), zeros=True, reduction="none"),
    dict(shape=(37, 45), far=True),
    dict(shape=(33, 71), reduction="sum", log_target=True),
    dict(shape=(33, 71), reduction="mean"),
    dict(shape=(5, 7, 41), log_target=True),
    dict(shape=(33, 71), strided=True),
    dict(shape=(0, 5), reduction="none"),
]

SIZES = [
    dict(shape=(256, 1024)),
    dict(shape=(2048, 1024)),
    dict(shape=(8192, 1024)),
    dict(shape=(2048, 32000)),
]


def magnitude(input, target, reduction="batchmean", log_target=False):
    """A loss is a difference of two terms, and the sum has losses of both signs."""
    x, t = input.double(), target.double()
    terms = torch.exp(t) * (t.abs() + x.abs()) if log_target else torch.xlogy(t, t).abs() + t * x.abs()
    return terms if reduction == "none" else terms.square().sum().sqrt() / _divisor(input, reduction)


CONTRACT = Close(scale=magnitude)


def kl_div(input, target, reduction="batchmean", log_target=False):
    if reduction == "mean":  # of this name alone torch warns that its meaning may change
        return F.kl_div(input, target, reduction="none", log_target=log_target).mean()
    return F.kl_div(input, target, reduction=reduction, log_target=log_target)


def inputs(make, shape, reduction="batchmean", log_target=False, zeros=False, far=False, strided=False):
    """Targets are probabilities over the last dimension, of which ``zeros`` sets every eighth to 0, or their logarithms.

    ``far``: most probabilities are next to nothing.
    """
    scores = make.plain(*shape) * 30 if far else make.floats(*shape, low=-4.0, high=4.0)
    x, scores = torch.log_softmax(scores, -1), make.plain(*shape) * 2
    t = torch.log_softmax(scores, -1) if log_target else torch.softmax(scores, -1)
    t = t.masked_fill(make.bools(*shape, p=0.125), 0.0) if zeros else t
    return call(
        make.strided(x) if strided else x, make.strided(t) if strided else t, reduction=reduction, log_target=log_target
    )


def _divisor(input, reduction):
    return {"batchmean": input.shape[0], "mean": input.numel()}.get(reduction, 1)


def _reduced(losses, reduction):
    return losses if reduction == "none" else losses.sum() / _divisor(losses, reduction)


def _losses(x, t, log_target):
    return torch.exp(t) * (t - x) if log_target else torch.where(t > 0, t * (t.log() - x), 0)


def positive_by_formula(input, target, reduction="batchmean", log_target=False):
    return _reduced(_losses(input, target, log_target), reduction)


def positive_row_by_row(input, target, reduction="batchmean", log_target=False):
    losses = _losses(input, target, log_target)
    if reduction == "none":
        return losses
    return (
        losses.flatten(1).sum(1).sum() / _divisor(input, reduction) if input.dim() > 1 else _reduced(losses, reduction)
    )


def negative_no_zero_targets(input, target, reduction="batchmean", log_target=False):
    """0 · log(0) is not a number."""
    losses = torch.exp(target) * (target - input) if log_target else target * (target.log() - input)
    return _reduced(losses, reduction)


def negative_ignores_log_target(input, target, reduction="batchmean", log_target=False):
    return _reduced(_losses(input, target, False), reduction)


def negative_mean_over_elements(input, target, reduction="batchmean", log_target=False):
    return kl_div(input, target, "mean" if reduction == "batchmean" else reduction, log_target)


def negative_mean_over_the_batch(input, target, reduction="batchmean", log_target=False):
    return kl_div(input, target, "batchmean" if reduction == "mean" else reduction, log_target)


def negative_swapped(input, target, reduction="batchmean", log_target=False):
    """The divergence in the other direction."""
    logs = target if log_target else target.clamp(min=1e-30).log()
    return _reduced(torch.exp(input) * (input - logs), reduction)


def negative_input_is_no_logarithm(input, target, reduction="batchmean", log_target=False):
    return _reduced(_losses(input.exp(), target, log_target), reduction)


def negative_cross_entropy(input, target, reduction="batchmean", log_target=False):
    """Leaves out the entropy of the target."""
    return _reduced(-(target.exp() if log_target else target) * input, reduction)
