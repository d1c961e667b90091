"""Hinge loss.

`Model()` has no weights. `forward(predictions, targets)` takes float32 `predictions` of shape `(n, n)` and float32
`targets` of shape `(n,)`, each -1 or 1. It returns the mean over all elements of
`max(1 - predictions[i, j] * targets[j], 0)`, a float32 tensor without dimensions: the targets broadcast over the rows,
so that each belongs to a column. Partial sums are to be added up in float32 or better; a million of them one after the
other lose too much.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("loss", "reduction")
DTYPE = "float32"

PUBLISHED = dict(n=32768)
SCALED = dict(n=101)

# A sum of one row after the other errs by a hundred roundoffs, where PyTorch's tree has few: four times the usual room.
CONTRACT = Close(growth=4)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, predictions, targets):
        return torch.mean(torch.clamp(1 - predictions * targets, min=0))


def init_inputs():
    return []


def inputs(make, n):
    """Predictions lean towards their targets, as those of a trained classifier do; published ones do not."""
    targets = 2 * make.ints(n, low=0, high=2, dtype=torch.float32) - 1
    predictions = make.floats(n, n)
    return call(predictions if make.as_published else predictions + targets, targets)


class PositiveRowByRow(Model):
    """Adds the rows' sums to one number, each by itself and in any order, as atomic additions do."""

    def forward(self, predictions, targets):
        rows = torch.relu(1 - predictions * targets).sum(dim=1)
        total = rows.new_zeros(1).index_add_(0, torch.zeros_like(rows, dtype=torch.int64), rows)
        return total[0] / predictions.numel()


class NegativeTargetsOfRows(Model):
    """Takes the targets for those of the rows."""

    def forward(self, predictions, targets):
        return torch.mean(torch.clamp(1 - predictions * targets[:, None], min=0))


class NegativeUnclamped(Model):
    """Lets negative values count."""

    def forward(self, predictions, targets):
        return torch.mean(1 - predictions * targets)


class NegativeSquared(Model):
    """The squared hinge."""

    def forward(self, predictions, targets):
        return torch.mean(torch.clamp(1 - predictions * targets, min=0) ** 2)
