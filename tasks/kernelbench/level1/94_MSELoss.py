"""Mean squared error.

`Model()` has no weights. `forward(predictions, targets)` takes two float32 tensors of shape `(batch, features)` and
returns the mean of `(predictions - targets)**2` over all elements, a float32 tensor without dimensions. Partial sums
are to be added up in float32 or better; a million of them one after the other lose too much.
"""

import torch
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
        return torch.mean((predictions - targets) ** 2)


def init_inputs():
    return []


def inputs(make, batch, features):
    scale = make.plain(1, low=0, high=1) if make.as_published else 1
    return call(make.floats(batch, features) * scale, make.floats(batch, features))


class PositiveRowByRow(Model):
    """Adds the rows' sums to one number, each by itself and in any order, as atomic additions do."""

    def forward(self, predictions, targets):
        rows = (predictions - targets).square().sum(dim=1)
        total = rows.new_zeros(1).index_add_(0, torch.zeros_like(rows, dtype=torch.int64), rows)
        return total[0] / predictions.numel()


class NegativeHalved(Model):
    """Takes half of the square, as the derivative suggests."""

    def forward(self, predictions, targets):
        return 0.5 * torch.mean((predictions - targets) ** 2)


class NegativePerSample(Model):
    """Divides by the number of rows only."""

    def forward(self, predictions, targets):
        return torch.sum((predictions - targets) ** 2) / predictions.shape[0]


class NegativeAbsolute(Model):
    """Takes absolute differences."""

    def forward(self, predictions, targets):
        return torch.mean((predictions - targets).abs())
