"""Huber loss with threshold 1, also called smooth L1.

`Model()` has no weights. `forward(predictions, targets)` takes two float32 tensors of shape `(batch, features)` and
returns the mean over all elements of

    0.5 * d**2 where |d| < 1, |d| - 0.5 elsewhere,   d = predictions - targets,

a float32 tensor without dimensions. Partial sums are to be added up in float32 or better; a million of them one after
the other lose too much.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("loss", "reduction")
DTYPE = "float32"

PUBLISHED = dict(batch=32768, features=32768)
SCALED = dict(batch=67, features=101)

# A sum of one row after the other errs by a hundred roundoffs, where PyTorch's tree has few: four times the usual room.
CONTRACT = Close(growth=4)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, predictions, targets):
        return F.smooth_l1_loss(predictions, targets)


def init_inputs():
    return []


def inputs(make, batch, features):
    scale = make.plain(1, low=0, high=1) if make.as_published else 1
    return call(make.floats(batch, features) * scale, make.floats(batch, features))


class PositiveRowByRow(Model):
    """Adds the rows' sums to one number, each by itself and in any order, as atomic additions do."""

    def forward(self, predictions, targets):
        size = (predictions - targets).abs()
        low = size.clamp(max=1)
        rows = (low * (size - 0.5 * low)).sum(dim=1)
        total = rows.new_zeros(1).index_add_(0, torch.zeros_like(rows, dtype=torch.int64), rows)
        return total[0] / predictions.numel()


class NegativeJump(Model):
    """Forgets the 0.5 that joins the two branches."""

    def forward(self, predictions, targets):
        size = (predictions - targets).abs()
        return torch.mean(torch.where(size < 1, 0.5 * size * size, size))


class NegativeSquaredError(Model):
    """Leaves out the linear branch."""

    def forward(self, predictions, targets):
        return 0.5 * F.mse_loss(predictions, targets)


class NegativeAbsoluteError(Model):
    """Leaves out the quadratic branch."""

    def forward(self, predictions, targets):
        return F.l1_loss(predictions, targets)
