"""Cosine embedding loss of two sets of vectors, normalized first.

`fused_cosine_embedding_loss_with_normalization(input1, input2, target, margin=0, reduction='mean')`

1. `u = input1 / max(‖input1‖, 1e-12)` and `v` from `input2` alike, with the Euclidean norm of each row; both inputs are
   float32 of shape `(N, D)`.
2. `c_n = u_n · v_n`, the cosine of the angle between the rows; 0 where a row is all zeros. Other rows are longer
   than 1e-12.
3. `loss_n = 1 - c_n` where `target_n = 1`, and `max(0, c_n - margin)` where `target_n = -1`. `target` is an int64 or
   float32 tensor of shape `(N,)` that holds nothing else.

- `reduction='none'`: the losses, float32 of shape `(N,)`.
- `reduction='sum'`: their sum, a 0-dimensional tensor.
- `reduction='mean'`: their sum divided by `N`, a 0-dimensional tensor.

Inputs may be non-contiguous, and empty where nothing is divided by 0. Sums are float32 or better.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("loss", "reduction", "normalization", "fusion", "memory-bound")
MAGNITUDES = (-32, 56)

CASES = [
    dict(n=37, d=45),
    dict(n=119, d=17, margin=0.5, reduction="none"),
    dict(n=67, d=131, reduction="sum"),
    dict(n=301, d=5, margin=0.5),
    dict(n=7, d=1031, reduction="none"),
    dict(n=1, d=1),
    dict(n=61, d=17, reduction="none", strided=True),
    dict(n=43, d=29, floating=True),
    dict(n=53, d=21, reduction="none", zeros=0.3),
    dict(n=71, d=5, reduction="none", margin=-0.5),
    dict(n=45, d=33, reduction="none", like=1e-3, margin=0.9),
    dict(n=61, d=19, reduction="none", size=1e-10),
    dict(n=0, d=5, reduction="sum"),
]

SIZES = [
    dict(n=4096, d=256),
    dict(n=65536, d=256),
    dict(n=16384, d=4096, margin=0.5),
    dict(n=262144, d=256),
]


def magnitude(input1, input2, target, margin=0, reduction="mean"):
    """Cosines are rounded relative to 1, however small the loss is."""
    return max(1.0, len(target)) if reduction == "sum" else 1.0


CONTRACT = Close(scale=magnitude)


def fused_cosine_embedding_loss_with_normalization(
    input1: torch.Tensor, input2: torch.Tensor, target: torch.Tensor, margin: float = 0, reduction: str = "mean"
) -> torch.Tensor:
    u, v = F.normalize(input1, dim=1), F.normalize(input2, dim=1)
    return F.cosine_embedding_loss(u, v, target, margin=margin, reduction=reduction)


def inputs(make, n, d, margin=0.0, reduction="mean", floating=False, zeros=None, like=None, size=1.0, strided=False):
    """``zeros``: share of rows that are all zeros. ``like``: how far ``input2`` is from ``input1``. ``size``: of ``input1``."""
    x, y = size * make.plain(n, d) if size < 1 else make.floats(n, d), make.floats(n, d)
    y = y if like is None else x * 3 + like * make.plain(n, d)
    if zeros:
        x, y = x.masked_fill(make.bools(n, 1, p=zeros), 0.0), y.masked_fill(make.bools(n, 1, p=zeros), 0.0)
    target = make.ints(n, low=0, high=2) * 2 - 1
    if strided:
        x, y = make.strided(x), make.strided(y)
    return call(x, y, target.to(x.dtype) if floating else target, margin=margin, reduction=reduction)


def _reduced(losses, reduction):
    if reduction == "none":
        return losses
    return losses.sum() / len(losses) if reduction == "mean" else losses.sum()


def _losses(cosine, target, margin):
    return torch.where(target == 1, 1 - cosine, (cosine - margin).clamp(min=0))


def _cosine(x, y, eps=1e-12):
    lengths = x.square().sum(1).sqrt().clamp(min=eps) * y.square().sum(1).sqrt().clamp(min=eps)
    return (x * y).sum(1) / lengths


def positive_divides_once(input1, input2, target, margin=0, reduction="mean"):
    return _reduced(_losses(_cosine(input1, input2), target, margin), reduction)


def positive_half_distance(input1, input2, target, margin=0, reduction="mean"):
    """1 - cos is half the squared distance of unit vectors; a row of zeros has none."""
    lengths = [t.square().sum(1, keepdim=True).sqrt().clamp(min=1e-12) for t in (input1, input2)]
    distance = (input1 / lengths[0] - input2 / lengths[1]).square().sum(1) / 2
    cosine = torch.where((input1.ne(0).any(1)) & (input2.ne(0).any(1)), 1 - distance, 0)
    return _reduced(_losses(cosine, target, margin), reduction)


def negative_not_normalized(input1, input2, target, margin=0, reduction="mean"):
    return _reduced(_losses((input1 * input2).sum(1), target, margin), reduction)


def negative_no_eps(input1, input2, target, margin=0, reduction="mean"):
    return _reduced(_losses(_cosine(input1, input2, eps=0.0), target, margin), reduction)


def negative_eps_added(input1, input2, target, margin=0, reduction="mean"):
    """A larger eps, added to the squares."""
    lengths = [(t.square().sum(1) + 1e-5).sqrt() for t in (input1, input2)]
    return _reduced(_losses((input1 * input2).sum(1) / lengths[0] / lengths[1], target, margin), reduction)


def negative_eps_of_cosine_similarity(input1, input2, target, margin=0, reduction="mean"):
    """1e-8, the default of another function."""
    return _reduced(_losses(_cosine(input1, input2, eps=1e-8), target, margin), reduction)


def negative_ignores_margin(input1, input2, target, margin=0, reduction="mean"):
    return _reduced(_losses(_cosine(input1, input2), target, 0.0), reduction)


def negative_unbounded(input1, input2, target, margin=0, reduction="mean"):
    cosine = _cosine(input1, input2)
    return _reduced(torch.where(target == 1, 1 - cosine, cosine - margin), reduction)


def negative_swapped_labels(input1, input2, target, margin=0, reduction="mean"):
    return _reduced(_losses(_cosine(input1, input2), -target, margin), reduction)


def negative_always_mean(input1, input2, target, margin=0, reduction="mean"):
    losses = _losses(_cosine(input1, input2), target, margin)
    return losses if reduction == "none" else losses.sum() / max(1, len(losses))
