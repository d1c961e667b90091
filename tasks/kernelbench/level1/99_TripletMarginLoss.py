"""Triplet margin loss.

`Model(margin=1.0)` holds `loss_fn = nn.TripletMarginLoss(margin)` and has no weights.
`forward(anchor, positive, negative)` takes three float32 tensors of shape `(batch, features)` and returns the mean over
the batch of

    max(d(anchor[b], positive[b]) - d(anchor[b], negative[b]) + margin, 0),   d(p, q) = sqrt(sum of (p - q + 1e-6)**2),

a float32 tensor without dimensions.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("loss", "reduction")
DTYPE = "float32"

PUBLISHED = dict(batch=32768, features=8192)
SCALED = dict(batch=67, features=101)

# A sum of one row after the other errs by a hundred roundoffs, where PyTorch's tree has few: four times the usual room.
CONTRACT = Close(growth=4)


class Model(nn.Module):
    def __init__(self, margin=1.0):
        super().__init__()
        self.loss_fn = nn.TripletMarginLoss(margin=margin)

    def forward(self, anchor, positive, negative):
        return self.loss_fn(anchor, positive, negative)


def init_inputs():
    return [1.0]


def inputs(make, batch, features):
    scale = make.plain(1, low=0, high=1) if make.as_published else 1
    return call(make.floats(batch, features) * scale, make.floats(batch, features), make.floats(batch, features))


class PositiveRowByRow(Model):
    """Adds the rows' sums to one number, each by itself and in any order, as atomic additions do."""

    def forward(self, anchor, positive, negative):
        near = (anchor - positive + 1e-6).square().sum(dim=1).sqrt()
        far = (anchor - negative + 1e-6).square().sum(dim=1).sqrt()
        rows = torch.relu(near - far + self.loss_fn.margin)
        total = rows.new_zeros(1).index_add_(0, torch.zeros_like(rows, dtype=torch.int64), rows)
        return total[0] / anchor.shape[0]


class NegativeSquaredDistances(Model):
    """Forgets the square roots."""

    def forward(self, anchor, positive, negative):
        near, far = (anchor - positive).square().sum(dim=1), (anchor - negative).square().sum(dim=1)
        return torch.relu(near - far + self.loss_fn.margin).mean()


class NegativeNoMargin(Model):
    """Leaves out the margin."""

    def forward(self, anchor, positive, negative):
        return torch.relu(F.pairwise_distance(anchor, positive) - F.pairwise_distance(anchor, negative)).mean()


class NegativeUnclamped(Model):
    """Lets rows with negative values count."""

    def forward(self, anchor, positive, negative):
        near, far = F.pairwise_distance(anchor, positive), F.pairwise_distance(anchor, negative)
        return (near - far + self.loss_fn.margin).mean()
