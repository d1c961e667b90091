"""Linear layer, minimum with a constant and subtraction of it.

`Model(in_features, out_features, constant)` holds:

- `linear`: `nn.Linear(in_features, out_features)`;
- `constant`: a scalar parameter that starts as the argument `constant`.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. the smaller of each element and the scalar `constant`;
3. the difference `x - constant`.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_features=16384, out_features=16384)
SCALED = dict(batch_size=19, in_features=67, out_features=53)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_features, out_features, constant):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.constant = nn.Parameter(torch.tensor(constant))

    def forward(self, x):
        return torch.min(self.linear(x), self.constant) - self.constant


def init_inputs(in_features, out_features):
    constant = 2.0
    return [in_features, out_features, constant]


def inputs(make, batch_size, in_features):
    """Spread so wide that a part of the sums is larger than the constant."""
    scale = 1 if make.as_published else 4.0
    return call(scale * make.floats(batch_size, in_features))


class PositiveClampsLast(Model):
    """Subtracts first: the minimum is then with 0."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.linear.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.linear.bias)
        return (x - self.constant).clamp(max=0)


class NegativeNoMinimum(Model):
    """Leaves the minimum out."""

    def forward(self, x):
        return self.linear(x) - self.constant


class NegativeMaximum(Model):
    """Takes the larger."""

    def forward(self, x):
        return torch.max(self.linear(x), self.constant) - self.constant


class NegativeNoSubtraction(Model):
    """Leaves the subtraction out."""

    def forward(self, x):
        return torch.min(self.linear(x), self.constant)
