"""Cross entropy of class scores.

`Model()` has no weights. `forward(predictions, targets)` takes float32 scores `predictions` of shape
`(batch, classes)`, which are not normalised, and int64 classes `targets` of shape `(batch,)`, from 0 to `classes - 1`.
With the natural logarithm, it returns the mean over the batch of

    log(sum over c of exp(predictions[b, c])) - predictions[b, targets[b]],

a float32 tensor without dimensions. Scores reach several hundred: the row's maximum must be subtracted before the
exponentials.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("loss", "reduction")
DTYPE = "float32"

PUBLISHED = dict(batch=32768, classes=4096)
SCALED = dict(batch=67, classes=101)

# With small scores all rows are log(classes), and a sum of one row after the other rounds each the same way.
DISTRIBUTIONS = ("standard", "uniform", "outliers", "large", "zeros")

# A sum of one row after the other errs by a hundred roundoffs, where PyTorch's tree has few: four times the usual room.
CONTRACT = Close(growth=4)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, predictions, targets):
        return F.cross_entropy(predictions, targets)


def init_inputs():
    return []


def inputs(make, batch, classes):
    return call(make.floats(batch, classes), make.ints(batch, low=0, high=classes))


class PositiveRowByRow(Model):
    """Adds the rows' sums to one number, each by itself and in any order, as atomic additions do."""

    def forward(self, predictions, targets):
        top = predictions.amax(dim=1, keepdim=True)
        logarithms = torch.log(torch.exp(predictions - top).sum(dim=1)) + top[:, 0]
        rows = logarithms - predictions.gather(1, targets[:, None])[:, 0]
        total = rows.new_zeros(1).index_add_(0, torch.zeros_like(rows, dtype=torch.int64), rows)
        return total[0] / predictions.shape[0]


class NegativeSum(Model):
    """Forgets to divide by the batch."""

    def forward(self, predictions, targets):
        return F.cross_entropy(predictions, targets, reduction="sum")


class NegativeUnnormalised(Model):
    """Leaves out the logarithm of the sum."""

    def forward(self, predictions, targets):
        return F.nll_loss(predictions, targets)


class NegativeTwoSoftmaxes(Model):
    """Takes the softmax of the scores first, as if the loss expected probabilities."""

    def forward(self, predictions, targets):
        return F.cross_entropy(torch.softmax(predictions, dim=1), targets)
