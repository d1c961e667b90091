"""Binary cross-entropy of probabilities against labels.

`binary_cross_entropy(input, target, weight=None, reduction='mean')`

`input` and `target` are float32 tensors of one shape with values in [0, 1], both ends included; `target` may hold soft
labels. `weight`: float32, broadcasts to that shape, or `None` for all ones. For each element

    loss = -weight · (y · max(log(x), -100) + (1 - y) · max(log(1 - x), -100)),     x from input, y from target

The logarithms are bounded at -100, so that the loss is finite for `x = 0` and `x = 1`: there it is 0 if the label is
right and 100 if it is wrong.

- `reduction='none'`: the losses, in `input`'s shape.
- `reduction='sum'`: their sum, a 0-dimensional tensor.
- `reduction='mean'`: their sum divided by the number of elements, whatever the weights, a 0-dimensional tensor.

All tensors may be non-contiguous or expanded, and empty unless the mean is asked for. Sums are float32 or better. The
strides of the result are free.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call, in_order

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("loss", "reduction", "elementwise", "memory-bound")

CASES = [
    dict(shape=(37, 45)),
    dict(shape=(1031,), weight=(1031,)),
    dict(shape=(19, 67), reduction="none"),
    dict(shape=(4099,), reduction="none"),
    dict(shape=(33, 71), weight=(33, 71), hard=True),
    dict(shape=(1,)),
    dict(shape=(37, 45), ends=True),
    dict(shape=(19, 67), ends=True, reduction="none"),
    dict(shape=(19, 67), weight=(67,), reduction="none"),
    dict(shape=(33, 71), weight=(33, 1)),
    dict(shape=(33, 71), reduction="sum"),
    dict(shape=(3, 7, 41), weight=(3, 7, 41), hard=True),
    dict(shape=(5, 131), reduction="none", hard=True, strided=True),
    dict(shape=()),
    dict(shape=(0, 5), reduction="none"),
]

SIZES = [
    dict(shape=(4096,)),
    dict(shape=(262144,)),
    dict(shape=(8388608,)),
    dict(shape=(8192, 8192), weight=(8192, 8192)),
]


def magnitude(input, target, weight=None, reduction="mean"):
    """The sum may be added up in order."""
    total = binary_cross_entropy(input, target, weight, reduction).abs()
    return 0.0 if reduction == "none" else total * in_order(input.numel())


CONTRACT = Close(scale=magnitude)


def binary_cross_entropy(input, target, weight=None, reduction="mean"):
    return F.binary_cross_entropy(input, target, weight, reduction=reduction)


def inputs(make, shape, weight=None, reduction="mean", ends=False, hard=False, strided=False):
    """``ends``: probabilities include 0 and 1; ``hard``: labels are 0 or 1 only."""
    end = 0.0 if ends else 1e-6
    x = make.floats(*shape, low=end, high=1 - end)
    y = make.bools(*shape).to(x.dtype) if hard else make.plain(*shape, low=0.0, high=1.0)
    w = None if weight is None else make.plain(*weight, low=0.1, high=0.99)
    if strided:
        x, y, w = make.strided(x), make.strided(y), None if w is None else make.strided(w)
    return call(x, y, w, reduction=reduction)


def _reduced(losses, reduction):
    if reduction == "none":
        return losses
    return losses.sum() / losses.numel() if reduction == "mean" else losses.sum()


def _losses(input, target, weight, bound=-100.0):
    logs, others = input.log().clamp(min=bound), torch.log1p(-input).clamp(min=bound)
    losses = -(target * logs + (1 - target) * others)
    return losses if weight is None else losses * weight


def positive_by_formula(input, target, weight=None, reduction="mean"):
    """Through one logarithm of each row at a time, summed row by row."""
    losses = _losses(input, target, weight)
    if reduction == "none" or losses.dim() < 2:
        return _reduced(losses, reduction)
    total = losses.flatten(1).sum(1).sum()
    return total / losses.numel() if reduction == "mean" else total


def negative_unbounded_logarithms(input, target, weight=None, reduction="mean"):
    return _reduced(_losses(input, target, weight, bound=float("-inf")), reduction)


def negative_probabilities_kept_from_the_ends(input, target, weight=None, reduction="mean"):
    """Clamps x to [1e-7, 1 - 1e-7] where the logarithm is bounded."""
    return _reduced(_losses(input.clamp(1e-7, 1 - 1e-7), target, weight), reduction)


def negative_logits(input, target, weight=None, reduction="mean"):
    """Takes the probabilities for logits."""
    return F.binary_cross_entropy_with_logits(input, target, weight, reduction=reduction)


def negative_mean_over_weights(input, target, weight=None, reduction="mean"):
    losses = _losses(input, target, weight)
    if reduction != "mean" or weight is None:
        return _reduced(losses, reduction)
    return losses.sum() / weight.expand_as(losses).sum()


def negative_ignores_weight(input, target, weight=None, reduction="mean"):
    return F.binary_cross_entropy(input, target, reduction=reduction)


def negative_positive_labels_only(input, target, weight=None, reduction="mean"):
    losses = -target * input.log().clamp(min=-100)
    return _reduced(losses if weight is None else losses * weight, reduction)
