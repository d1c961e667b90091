"""Absolute error that is rounded off quadratically near zero.

`smooth_l1_loss(input, target, beta=1.0, reduction='mean')`

`input` and `target` are float32 tensors of one shape, `beta ≥ 0`. With `d = |input - target|`, the loss of an element
is

    d² / (2 · beta)     if d < beta,
    d - beta / 2        otherwise (always, if beta = 0).

- `reduction='none'`: the losses, in `input`'s shape.
- `reduction='sum'`: their sum, a 0-dimensional tensor.
- `reduction='mean'`: their sum divided by the number of elements, a 0-dimensional tensor; NaN if there are none.

Both tensors may be non-contiguous or expanded, and empty. Sums are float32 or better. NaN is carried through. The
strides of the result are free.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call, in_order

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("loss", "reduction", "elementwise", "memory-bound")
MAGNITUDES = (-104, 96)

CASES = [
    dict(shape=(37, 45)),
    dict(shape=(5003,), reduction="sum", beta=0.5),
    dict(shape=(19, 67), reduction="none", beta=0.1),
    dict(shape=(1031,), beta=1.0),
    dict(shape=(33, 71), beta=0.5),
    dict(shape=(1,)),
    dict(shape=(19, 67), reduction="none", beta=2.5),
    dict(shape=(33, 71), beta=0.0),
    dict(shape=(3, 33, 71)),
    dict(shape=(33, 71), strided=True),
    dict(shape=(5, 131), reduction="none", expanded=True),
    dict(shape=(7, 61), reduction="none", beta=0.1, nan=0.1),
    dict(shape=()),
    dict(shape=(0, 5), reduction="sum"),
    dict(shape=(0,)),
]

SIZES = [
    dict(shape=(4096,)),
    dict(shape=(262144,)),
    dict(shape=(16777216,)),
    dict(shape=(134217728,), beta=0.5),
]


def magnitude(input, target, beta=1.0, reduction="mean"):
    """The sum may be added up in order."""
    total = smooth_l1_loss(input, target, beta, reduction).abs()
    return 0.0 if reduction == "none" else total * in_order(input.numel())


CONTRACT = Close(scale=magnitude)


def smooth_l1_loss(input, target, beta=1.0, reduction="mean"):
    return F.smooth_l1_loss(input, target, beta=beta, reduction=reduction)


def inputs(make, shape, beta=1.0, reduction="mean", expanded=False, strided=False, nan=None):
    """``expanded``: one row of targets for all. Every fourth difference or so is exactly beta, or at least near it."""
    y = make.plain(1, *shape[1:]).expand(shape) if expanded else make.plain(*shape)
    x = torch.where(make.bools(*shape, p=0.25), y + beta, make.floats(*shape))
    if nan:
        x = x.masked_fill(make.bools(*shape, p=nan), float("nan"))
    if strided:
        x, y = make.strided(x), y if expanded else make.strided(y)
    return call(x, y, beta=beta, reduction=reduction)


def _reduced(losses, reduction):
    if reduction == "none":
        return losses
    return losses.sum() / losses.numel() if reduction == "mean" else losses.sum()


def positive_without_branches(input, target, beta=1.0, reduction="mean"):
    """With m = min(d, beta): m² / (2 beta) + (d - m)."""
    d = (input - target).abs()
    m = d.clamp(max=beta)
    losses = d if beta == 0 else 0.5 * m * m / beta + (d - m)
    if reduction == "none":
        return losses
    total = torch.stack([block.sum() for block in losses.reshape(-1).split(256)] or [losses.sum()]).sum()
    return total / losses.numel() if reduction == "mean" else total


def negative_ignores_beta(input, target, beta=1.0, reduction="mean"):
    return F.smooth_l1_loss(input, target, reduction=reduction)


def negative_huber(input, target, beta=1.0, reduction="mean"):
    """beta times too large."""
    return F.huber_loss(input, target, reduction=reduction, delta=beta or 1e-30)


def negative_divides_by_zero(input, target, beta=1.0, reduction="mean"):
    d = (input - target).abs()
    return _reduced(torch.where(d <= beta, 0.5 * d * d / torch.tensor(beta), d - 0.5 * beta), reduction)


def negative_linear_part_not_shifted(input, target, beta=1.0, reduction="mean"):
    d = (input - target).abs()
    return _reduced(torch.where(d < beta, 0.5 * d * d / (beta or 1), d), reduction)


def negative_signed_difference(input, target, beta=1.0, reduction="mean"):
    d = input - target
    return _reduced(torch.where(d < beta, 0.5 * d * d / (beta or 1), d - 0.5 * beta), reduction)


def negative_always_mean(input, target, beta=1.0, reduction="mean"):
    return F.smooth_l1_loss(input, target, beta=beta, reduction="none" if reduction == "none" else "mean")


def negative_half_precision(input, target, beta=1.0, reduction="mean"):
    x, y = input.half().to(input.dtype), target.half().to(input.dtype)
    return F.smooth_l1_loss(x, y, beta=beta, reduction=reduction)
