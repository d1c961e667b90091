"""Kullback-Leibler divergence of two sets of distributions.

`Model()` has no weights. `forward(predictions, targets)` takes two float32 tensors of shape `(batch, classes)`:
probabilities, positive, that add up to 1 in every row. It returns

    sum over b, c of targets[b, c] * (log(targets[b, c]) - log(predictions[b, c])) / batch,

a float32 tensor without dimensions. The sum of all terms is divided by the number of rows, not of elements.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("loss", "reduction")
DTYPE = "float32"

PUBLISHED = dict(batch=16384, classes=16384)
SCALED = dict(batch=67, classes=101)

# Logarithms as large as log(classes), about 10, cancel.
CONTRACT = Close(scale=10.0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, predictions, targets):
        return F.kl_div(torch.log(predictions), targets, reduction="batchmean")


def init_inputs():
    return []


def inputs(make, batch, classes):
    if make.as_published:
        scale = make.plain(1, low=0, high=1)
        return call((make.floats(batch, classes) * scale).softmax(1), make.floats(batch, classes).softmax(1))
    predictions = make.floats(batch, classes, low=0.05, high=1.0)
    targets = make.floats(batch, classes, low=0.4, high=1.0)
    return call(*(weights / weights.sum(dim=1, keepdim=True) for weights in (predictions, targets)))


class PositiveRowByRow(Model):
    """Adds the rows' sums to one number, each by itself and in any order, as atomic additions do."""

    def forward(self, predictions, targets):
        rows = (targets * torch.log(targets / predictions)).sum(dim=1)
        total = rows.new_zeros(1).index_add_(0, torch.zeros_like(rows, dtype=torch.int64), rows)
        return total[0] / predictions.shape[0]


class PositiveTwoSums(Model):
    """The targets' negative entropy less the sum of products with the logarithms of predictions."""

    def forward(self, predictions, targets):
        entropy = -(targets * torch.log(targets)).sum(dim=1)
        cross = -(targets * torch.log(predictions)).sum(dim=1)
        return (cross - entropy).mean()


class NegativeMean(Model):
    """Divides by the number of elements."""

    def forward(self, predictions, targets):
        return F.kl_div(torch.log(predictions), targets, reduction="mean")


class NegativeCrossEntropy(Model):
    """Leaves out the logarithm of the targets."""

    def forward(self, predictions, targets):
        return -(targets * torch.log(predictions)).sum() / predictions.shape[0]


class NegativeSwapped(Model):
    """Takes the divergence the other way around."""

    def forward(self, predictions, targets):
        return F.kl_div(torch.log(targets), predictions, reduction="batchmean")
