"""Squared error.

`mse_loss(input, target, reduction='mean')`

`input` and `target` are float32 tensors of one shape. The loss of an element is `(input - target)²`.

- `reduction='none'`: the losses, in `input`'s shape.
- `reduction='sum'`: their sum, a 0-dimensional tensor.
- `reduction='mean'`: their sum divided by the number of elements, a 0-dimensional tensor; NaN if there are none.

Both tensors may be non-contiguous or expanded, and empty. Sums are float32 or better. NaN and infinity are carried
through. The strides of the result are free.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call, in_order

DIFFICULTY = 1
DTYPE = "float32"
TAGS = ("loss", "reduction", "elementwise", "memory-bound")
MAGNITUDES = (-52, 56)

CASES = [
    dict(shape=(37, 45)),
    dict(shape=(5003,), reduction="sum"),
    dict(shape=(19, 67), reduction="none"),
    dict(shape=(2, 3, 9, 17)),
    dict(shape=(1031,), reduction="mean"),
    dict(shape=(1,)),
    dict(shape=(3, 33, 71)),
    dict(shape=(33, 71), strided=True),
    dict(shape=(5, 131), reduction="none", expanded=True),
    dict(shape=()),
    dict(shape=(0, 5), reduction="sum"),
    dict(shape=(0,)),
    dict(shape=(45,), reduction="none", special=True),
]

SIZES = [
    dict(shape=(4096,)),
    dict(shape=(262144,)),
    dict(shape=(8388608,)),
    dict(shape=(134217728,)),
]


def magnitude(input, target, reduction="mean"):
    """The sum may be added up in order."""
    return 0.0 if reduction == "none" else mse_loss(input, target, reduction).abs() * in_order(input.numel())


CONTRACT = Close(scale=magnitude)


def mse_loss(input, target, reduction="mean"):
    return F.mse_loss(input, target, reduction=reduction)


def inputs(make, shape, reduction="mean", expanded=False, strided=False, special=False):
    """``expanded``: one row of targets for all; ``special``: some NaN and infinity."""
    x = make.floats(*shape)
    y = make.floats(1, *shape[1:]).expand(shape) if expanded else make.floats(*shape)
    if strided:
        x, y = make.strided(x), y if expanded else make.strided(y)
    if special:
        x = x.masked_fill(make.bools(*shape, p=0.2), float("inf")).masked_fill(make.bools(*shape, p=0.1), float("nan"))
        y = y.masked_fill(make.bools(*shape, p=0.3), float("inf"))
    return call(x, y, reduction=reduction)


def _reduced(losses, reduction):
    if reduction == "none":
        return losses
    return losses.sum() / losses.numel() if reduction == "mean" else losses.sum()


def positive_dot_product(input, target, reduction="mean"):
    d = (input - target).reshape(-1)
    if reduction == "none":
        return (d * d).reshape(input.shape)
    total = torch.dot(d, d)
    return total / d.numel() if reduction == "mean" else total


def positive_blocks(input, target, reduction="mean"):
    """Partial sums of 256 elements, as programs make them."""
    losses = (input - target) ** 2
    if reduction == "none":
        return losses
    total = torch.stack([block.sum() for block in losses.reshape(-1).split(256)] or [losses.sum()]).sum()
    return total / losses.numel() if reduction == "mean" else total


def negative_absolute_error(input, target, reduction="mean"):
    return F.l1_loss(input, target, reduction=reduction)


def negative_half_of_it(input, target, reduction="mean"):
    return F.mse_loss(input, target, reduction=reduction) / 2


def negative_always_mean(input, target, reduction="mean"):
    return F.mse_loss(input, target) if reduction != "none" else F.mse_loss(input, target, reduction="none")


def negative_mean_over_the_batch(input, target, reduction="mean"):
    """Divides by the first size only."""
    losses = (input - target).square()
    return losses.sum() / losses.shape[0] if reduction == "mean" and losses.dim() else _reduced(losses, reduction)


def negative_full_blocks_only(input, target, reduction="mean"):
    """Forgets what is left after the last full block of 256."""
    losses = (input - target).square()
    if reduction == "none" or losses.numel() < 256:
        return _reduced(losses, reduction)
    total = losses.reshape(-1)[: losses.numel() // 256 * 256].sum()
    return total / losses.numel() if reduction == "mean" else total


def negative_expanded_square(input, target, reduction="mean"):
    """x² - 2xy + y² cancels."""
    return _reduced(input * input - 2 * input * target + target * target, reduction)


def negative_half_precision(input, target, reduction="mean"):
    return _reduced((input.half() - target.half()).square().to(input.dtype), reduction)
