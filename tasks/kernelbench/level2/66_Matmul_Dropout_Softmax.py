"""Linear layer, dropout and softmax of the rows.

`Model(in_features, out_features, dropout_p)` holds:

- `matmul`: `nn.Linear(in_features, out_features)`;
- `dropout`: `nn.Dropout(dropout_p)`.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. dropout in training mode: each element is independently set to 0 with probability `dropout_p`, and multiplied by
   `1 / (1 - dropout_p)` otherwise;
3. softmax over dimension 1; dropped elements take part with the score 0.

Which elements are dropped is the kernel's own choice, at random: independent of the data and of each other, and anew in
each call, so seed from `torch`'s generator or a counter.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Random, call, mask_complaints

TAGS = ("matmul", "random")
DTYPE = "float32"
# Small scores do not tell what was kept from what was dropped; large ones leave probabilities below the smallest
# number.
DISTRIBUTIONS = ("standard", "uniform", "zeros")

PUBLISHED = dict(batch_size=128, in_features=16384, out_features=16384)
SCALED = dict(batch_size=19, in_features=67, out_features=151)

DROPOUT = 0.2


def scores(output):
    """What went into softmax: dropped elements have score 0, and their common value is the most frequent of a row."""
    output = output.double()
    return torch.log(output / output.mode(dim=1, keepdim=True).values)


def check(args, kwargs, results, expected):
    """Rows sum to 1, scores agree wherever two draws have kept them, and fair masks."""
    draws = [scores(result) for result in results]
    masks, known = [], scores(expected)
    eps = torch.finfo(expected.dtype).eps
    size = 1 + known.abs().amax(1, keepdim=True)
    tolerance, dropped = max(2e-5, 8 * eps) * size, max(2e-5, eps) * size
    for result, draw in zip(results, draws, strict=True):
        off = (result.double().sum(1) - 1).abs().max()
        if not off <= max(1e-5, eps):
            return [f"a row's sum is {float(off):.2g} away from 1"]
        masks.append(draw.abs() > dropped)
        both = masks[-1] & (known.abs() > dropped)
        differ = int((both & ~((draw - known).abs() <= tolerance)).sum())
        if differ or not draw.isfinite().all():
            return [f"{differ} of the {int(both.sum())} scores that two draws have kept differ"]
        known = torch.where(masks[-1], draw, known)
    return mask_complaints(masks, DROPOUT, torch.arange(expected.numel(), device=expected.device))


CONTRACT = Random(check)


class Model(nn.Module):
    def __init__(self, in_features, out_features, dropout_p):
        super().__init__()
        self.matmul = nn.Linear(in_features, out_features)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, x):
        return torch.softmax(self.dropout(self.matmul(x)), dim=1)


def init_inputs(in_features, out_features):
    return [in_features, out_features, DROPOUT]


def inputs(make, batch_size, in_features):
    return call(make.floats(batch_size, in_features))


class PositiveOwnMask(Model):
    """Draws the mask from uniform numbers."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.matmul.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.matmul.bias)
        p = self.dropout.p
        x = x * (torch.rand_like(x) >= p) / (1 - p)
        x = (x - x.amax(1, keepdim=True)).exp()
        return x / x.sum(1, keepdim=True)


class NegativeNoDropout(Model):
    """Leaves dropout out, as in evaluation."""

    def forward(self, x):
        return torch.softmax(self.matmul(x), dim=1)


class NegativeNotRescaled(Model):
    """Drops, but does not divide by the probability to keep."""

    def forward(self, x):
        x = self.matmul(x)
        return torch.softmax(x * (torch.rand_like(x) >= self.dropout.p), dim=1)


class NegativeDropoutLast(Model):
    """Drops after softmax."""

    def forward(self, x):
        return self.dropout(torch.softmax(self.matmul(x), dim=1))


class NegativeOneMask(Model):
    """Drops the same features of every sample."""

    def forward(self, x):
        x, p = self.matmul(x), self.dropout.p
        return torch.softmax(x * (torch.rand_like(x[:1]) >= p) / (1 - p), dim=1)


class NegativeKeepsWithP(Model):
    """Takes the probability to drop for that to keep."""

    def forward(self, x):
        return torch.softmax(F.dropout(self.matmul(x), 1 - self.dropout.p), dim=1)
